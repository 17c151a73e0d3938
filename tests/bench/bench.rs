//! Shared state of all scenarios: the settings and the machine.

use std::time::Duration;

use clap::Args;

use crate::{measure::machine::Machine, stage::horizon::Holder};

#[derive(Args)]
pub(crate) struct Bench {
    /// Suite of the server
    #[arg(long, default_value = "hybrid")]
    pub(crate) suite: String,
    /// Length of each run in seconds [default: 10, 60 for limits of a minute, 1800 for steady and horizon]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) seconds: Option<u64>,
    /// Retention of steady in seconds
    #[arg(long, value_name = "N", default_value_t = 300, value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) retention: u64,
    /// Run growth with this many senders, and as many recipients, that take turns
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) active: Option<u32>,
    /// What keeps old row versions in horizon
    #[arg(long, value_enum, default_value_t = Holder::Transaction)]
    pub(crate) holder: Holder,
    /// Run growth with 10,000,000 envelopes and 1,000,000 keys: needs 30 GB of disk and a long time
    #[arg(long = "full")]
    pub(crate) is_full: bool,
    #[arg(skip = Machine::look())]
    pub(crate) machine: Machine,
}

impl Bench {
    /// Returns the given length of a run, or `seconds` by default.
    pub(crate) fn span(&self, seconds: u64) -> Duration {
        Duration::from_secs(self.seconds.unwrap_or(seconds))
    }
}
