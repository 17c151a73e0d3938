//! What each plan allows: the contract's table.

use sealpost_domain::{EnterpriseTerms, Plan};

/// The limits of one key. A limit of 0 admits nothing; an allowance of 0 leaves overage, where that is agreed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Terms {
    /// Requests in a minute of UTC.
    pub per_minute: u32,
    /// Requests in a day of UTC.
    pub per_day: u32,
    /// Messages in a month of UTC: the allowance.
    pub per_month: u32,
    /// Messages a second, with a burst of one second. More than a million count as a million.
    pub per_second: u32,
    /// What becomes of messages past the allowance.
    pub overage: OveragePolicy,
}

/// What becomes of messages past the monthly allowance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OveragePolicy {
    /// They are admitted and recorded.
    Admit,
    /// They are refused; sales may agree on more.
    ContactSales,
    /// They are refused; a larger plan has more.
    HardBlock,
}

impl Terms {
    /// The terms of `plan`.
    pub const fn of(plan: &Plan) -> Self {
        match plan {
            Plan::Builder => Self {
                per_minute: 200,
                per_day: 10_000,
                per_month: 10_000,
                per_second: 100,
                overage: OveragePolicy::HardBlock,
            },
            Plan::Enterprise(agreed) => Self::agreed(agreed),
            Plan::Explorer => Self {
                per_minute: 20,
                per_day: 1_000,
                per_month: 1_000,
                per_second: 10,
                overage: OveragePolicy::HardBlock,
            },
            Plan::Sovereign => Self {
                per_minute: 2_000,
                per_day: 100_000,
                per_month: 100_000,
                per_second: 1_000,
                overage: OveragePolicy::ContactSales,
            },
        }
    }

    const fn agreed(terms: &EnterpriseTerms) -> Self {
        Self {
            per_minute: terms.per_minute,
            per_day: terms.per_day,
            per_month: terms.per_month,
            per_second: terms.per_second,
            overage: if terms.allow_overage {
                OveragePolicy::Admit
            } else {
                OveragePolicy::ContactSales
            },
        }
    }
}
