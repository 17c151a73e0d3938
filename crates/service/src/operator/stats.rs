//! Counts the accounts, keys, webhooks, envelopes and deliveries of the whole service.

use std::{collections::BTreeMap, time::Duration};

use schemars::JsonSchema;
use sealpost_domain::ports::ServiceStats;
use serde::Serialize;

use super::action::{Operator, OperatorError};

/// Numbers about the whole service, for operators.
#[derive(Debug, Clone, JsonSchema, Serialize)]
pub struct StatsShown {
    /// Number of accounts.
    pub accounts: u64,
    /// Number of keys by state.
    pub keys: BTreeMap<&'static str, u64>,
    /// Number of keys by plan, without revoked keys.
    pub plans: BTreeMap<String, u64>,
    /// Number of webhooks by status.
    pub webhooks: BTreeMap<&'static str, u64>,
    /// Number of stored envelopes, counted up to 1,000,000.
    pub envelopes: u64,
    /// True if more than 1,000,000 envelopes are stored. `envelopes` is then a lower bound.
    pub envelopes_more: bool,
    /// Number of deliveries that wait for an attempt, counted up to 1,000,000.
    pub waiting_deliveries: u64,
    /// True if more than 1,000,000 deliveries wait. `waiting_deliveries` is then a lower bound.
    pub waiting_deliveries_more: bool,
    /// Messages sent in about the last seven days. Summed from the daily counts, which lag behind the sends.
    pub sent_7d: u64,
    /// Events delivered in about the last seven days, summed from the daily counts.
    pub delivered_7d: u64,
    /// Size of the whole database in bytes.
    pub database_bytes: u64,
}

impl Operator {
    /// Counts the rows of the service. Reads every key and webhook, so the time grows with their number.
    pub fn stats(&self) -> Result<StatsShown, OperatorError> {
        let since = self.clock.now().minus(COUNTED_DAYS);
        let stats = self.store.operator_lookup()?.stats(since, COUNTED_MAX + 1)?;
        let ServiceStats { envelopes, waiting_deliveries, .. } = stats;
        let (max, by_name) = (u64::from(COUNTED_MAX), stats.webhooks.into_iter());
        Ok(StatsShown {
            accounts: stats.accounts,
            keys: stats.keys_by_status.into_iter().map(|(key, n)| (key.as_str(), n)).collect(),
            plans: stats.keys_by_plan.into_iter().collect(),
            webhooks: by_name.map(|(webhook, n)| (webhook.as_str(), n)).collect(),
            envelopes: envelopes.min(max),
            envelopes_more: envelopes > max,
            waiting_deliveries: waiting_deliveries.min(max),
            waiting_deliveries_more: waiting_deliveries > max,
            sent_7d: stats.sent,
            delivered_7d: stats.delivered,
            database_bytes: stats.database_bytes,
        })
    }
}

/// Days that began within this time are included in the sums of daily counts.
const COUNTED_DAYS: Duration = Duration::from_hours(7 * 24);
/// Upper limit for the count of envelopes, and for the count of deliveries. Rows beyond the limit are not counted, so
/// that counting takes at most about a second.
const COUNTED_MAX: u32 = 1_000_000;
