//! Plans: what a key may use. Their numbers live in the limits crate.

use serde::{Deserialize, Serialize};

/// The plan of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Plan {
    /// 49 a month.
    Builder,
    /// Agreed one by one, so it carries its own numbers.
    Enterprise(EnterpriseTerms),
    /// Free.
    Explorer,
    /// 199 a month.
    Sovereign,
}

/// The numbers of one enterprise key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct EnterpriseTerms {
    /// Requests in a minute of UTC.
    pub per_minute: u32,
    /// Requests in a day of UTC.
    pub per_day: u32,
    /// Messages in a month of UTC.
    pub per_month: u32,
    /// Messages a second, with a burst of one second.
    pub per_second: u32,
    /// Whether messages past the monthly allowance are admitted and recorded.
    pub allow_overage: bool,
}

impl Plan {
    /// The plan's name in JSON, SQL and on the command line.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Builder => "builder",
            Self::Enterprise(_) => "enterprise",
            Self::Explorer => "explorer",
            Self::Sovereign => "sovereign",
        }
    }
}
