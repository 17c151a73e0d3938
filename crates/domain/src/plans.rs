//! Plans of API keys, and the usage counters for the limits of a plan. The `limits` crate defines the limits of each
//! plan.

use serde::{Deserialize, Serialize};

use crate::Timestamp;

/// The plan of an API key, which sets the limits of the key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Plan {
    /// The smaller of the two paid plans with fixed limits.
    Builder,
    /// The plan with individual limits, agreed with the customer.
    Enterprise(EnterpriseTerms),
    /// The free plan.
    Explorer,
    /// The larger of the two paid plans with fixed limits.
    Sovereign,
}

/// The individual limits of an API key on the enterprise plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct EnterpriseTerms {
    /// Maximum number of requests per UTC minute.
    pub per_minute: u32,
    /// Maximum number of requests per UTC day.
    pub per_day: u32,
    /// Maximum number of messages per UTC month.
    pub per_month: u32,
    /// Maximum number of messages per second. The messages of one second may arrive at the same instant.
    pub per_second: u32,
    /// True if messages above the monthly limit are admitted and recorded. Otherwise they are refused.
    pub allow_overage: bool,
}

impl Plan {
    /// The names of all plans.
    pub const NAMES: [&str; 4] = ["builder", "enterprise", "explorer", "sovereign"];

    /// Returns the name of the plan in JSON, in SQL and on the command line.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Builder => "builder",
            Self::Enterprise(_) => "enterprise",
            Self::Explorer => "explorer",
            Self::Sovereign => "sovereign",
        }
    }
}

/// A counter of requests or messages in one window of time. Windows begin at full UTC minutes, days or months.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WindowUse {
    /// Start of the counted window.
    pub start: Timestamp,
    /// Number of requests or messages admitted in this window.
    pub used: u32,
}

/// The usage counters of one API key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Usage {
    /// Number of requests in the current UTC minute.
    pub minute: WindowUse,
    /// Number of requests in the current UTC day.
    pub day: WindowUse,
    /// Number of messages in the current UTC month.
    pub month: WindowUse,
    /// State of the limit of messages per second: the theoretical arrival time of the next message, in microseconds
    /// since the Unix epoch. The limit uses the generic cell rate algorithm (GCRA).
    pub throughput_tat_us: i64,
}

impl Usage {
    /// The counters of a new key, all zero.
    pub const UNUSED: Self = Self {
        minute: WindowUse { start: Timestamp::from_millis(0), used: 0 },
        day: WindowUse { start: Timestamp::from_millis(0), used: 0 },
        month: WindowUse { start: Timestamp::from_millis(0), used: 0 },
        throughput_tat_us: 0,
    };
}

/// A rate limit, named by its time window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Window {
    /// Requests per UTC day.
    Day,
    /// Requests per UTC minute.
    Minute,
    /// Messages per second.
    Second,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_plan_has_one_of_the_names() {
        let agreed = EnterpriseTerms {
            per_minute: 1,
            per_day: 1,
            per_month: 1,
            per_second: 1,
            allow_overage: false,
        };
        let plans = [Plan::Builder, Plan::Enterprise(agreed), Plan::Explorer, Plan::Sovereign];
        assert_eq!(plans.map(|plan| plan.name()), Plan::NAMES);
    }
}
