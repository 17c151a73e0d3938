//! Shared state of all scenarios: the settings and the machine.

use std::time::Duration;

use crate::{measure::machine::Machine, stage::horizon::Holder};

pub(crate) struct Bench {
    pub(crate) suite: String,
    /// The length of each run in seconds, if given.
    pub(crate) seconds: Option<u64>,
    /// Retention of `steady`, in seconds.
    pub(crate) retention: u64,
    /// Runs `growth` in full size.
    pub(crate) is_full: bool,
    /// Number of senders and of recipients of `growth` that take turns, if given.
    pub(crate) active: Option<usize>,
    /// What keeps old row versions in `horizon`.
    pub(crate) holder: Holder,
    pub(crate) machine: Machine,
}

impl Bench {
    /// Returns the given length of a run, or `seconds` by default.
    pub(crate) fn span(&self, seconds: u64) -> Duration {
        Duration::from_secs(self.seconds.unwrap_or(seconds))
    }
}
