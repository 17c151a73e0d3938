//! Housekeeping: turns at its tasks, and rows that are not in the daily counts yet.

use std::time::Duration;

use super::owner::DailyCount;
use crate::{ApiKeyId, LeaseToken, Timestamp};

/// A node's request for a turn at a housekeeping task: the exclusive right to run the task for a limited time.
#[derive(Debug, Clone, Copy)]
pub struct HousekeepingTurn<'a> {
    /// Name of the housekeeping task.
    pub task: &'a str,
    /// Token that identifies the requesting node.
    pub node: LeaseToken,
    /// Current time of the node's clock.
    pub now: Timestamp,
    /// Duration of the turn. No other node may run the task for this time.
    pub held_for: Duration,
    /// Maximum change of the task's stored time in this turn. The database stores a time for each task, to protect rows
    /// from a wrong clock.
    pub pace: Duration,
}

/// A table with rows that housekeeping adds to the daily counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CountedTable {
    /// An envelope counts for its sender and for its recipient.
    Envelopes,
    /// A successful attempt counts as a delivered event of the key that owns the webhook.
    Attempts,
}

/// The next rows of a table that are not in the daily counts yet, summed by API key and day.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UncountedRows {
    /// The table of the rows.
    pub table: CountedTable,
    /// Id of the last counted row. The rows follow it. `None` if no row of the table was counted yet.
    pub after: Option<String>,
    /// Id of the last of the rows.
    pub last: String,
    /// Number of the rows.
    pub number: u64,
    /// The sums. Each pair of API key and day occurs once.
    pub sums: Vec<(ApiKeyId, DailyCount)>,
}

/// Rows of which each has the time by which it expires.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExpiringRows {
    /// By their expiry.
    ApiTokens,
    /// By the last message to the contact.
    Contacts,
    /// Records of `Idempotency-Key` headers, by their creation.
    IdempotencyKeys,
    /// By their expiry.
    Sessions,
    /// Uses of forms, by their time.
    UsedForms,
}
