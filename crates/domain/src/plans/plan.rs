//! Plans of API keys. The limits crate defines the numbers of each plan.

use serde::{Deserialize, Serialize};

/// The plan of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Plan {
    /// The plan with a price of 49 a month.
    Builder,
    /// The plan with limits that are agreed per customer.
    Enterprise(EnterpriseTerms),
    /// The free plan.
    Explorer,
    /// The plan with a price of 199 a month.
    Sovereign,
}

/// The limits of one enterprise key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct EnterpriseTerms {
    /// Requests per UTC minute.
    pub per_minute: u32,
    /// Requests per UTC day.
    pub per_day: u32,
    /// Messages per UTC month.
    pub per_month: u32,
    /// Messages per second, with a burst of one second.
    pub per_second: u32,
    /// Whether messages beyond the monthly allowance are admitted and recorded.
    pub allow_overage: bool,
}

impl Plan {
    /// All names of plans.
    pub const NAMES: [&str; 4] = ["builder", "enterprise", "explorer", "sovereign"];

    /// Returns the name used in JSON, SQL and on the command line.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Builder => "builder",
            Self::Enterprise(_) => "enterprise",
            Self::Explorer => "explorer",
            Self::Sovereign => "sovereign",
        }
    }
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
