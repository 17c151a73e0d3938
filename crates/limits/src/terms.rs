//! The limits of each plan, as the API contract lists them.

use sealpost_domain::Plan;

/// The limits of one API key. A limit of 0 per second, minute or day admits nothing. With a monthly allowance of 0,
/// messages are admitted only if the plan admits messages beyond the allowance (overage).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Terms {
    /// Requests per UTC minute.
    pub per_minute: u32,
    /// Requests per UTC day.
    pub per_day: u32,
    /// Messages per UTC month: the monthly allowance.
    pub per_month: u32,
    /// Messages per second. The messages of one second may arrive at the same instant. Values above one million are
    /// treated as one million.
    pub per_second: u32,
    /// Policy for messages beyond the allowance.
    pub overage: OveragePolicy,
}

/// Policy for messages beyond the monthly allowance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OveragePolicy {
    /// Admits and records messages beyond the allowance.
    Admit,
    /// Refuses messages beyond the allowance. The error advises to ask for a larger allowance.
    ContactSales,
    /// Refuses messages beyond the allowance. The error suggests a larger plan.
    HardBlock,
}

impl Terms {
    /// Returns the limits of `plan`. The limits of an enterprise plan are agreed individually.
    pub const fn new(plan: &Plan) -> Self {
        match plan {
            Plan::Builder => Self {
                per_minute: 200,
                per_day: 10_000,
                per_month: 10_000,
                per_second: 100,
                overage: OveragePolicy::HardBlock,
            },
            Plan::Enterprise(agreed) => Self {
                per_minute: agreed.per_minute,
                per_day: agreed.per_day,
                per_month: agreed.per_month,
                per_second: agreed.per_second,
                overage: if agreed.allow_overage {
                    OveragePolicy::Admit
                } else {
                    OveragePolicy::ContactSales
                },
            },
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
}
