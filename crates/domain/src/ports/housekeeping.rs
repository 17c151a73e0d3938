//! The tasks of housekeeping, such as the deletion of expired rows, and the nodes that share these tasks.

use std::{
    collections::{BTreeMap, HashMap},
    time::Duration,
};

use super::overview::DailyCount;
use crate::{ApiKeyId, LeaseToken, Timestamp, WebhookId};

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
    /// Maximum change of the task's stored time in this turn. The database stores a time for each task, and the task
    /// deletes only rows that have expired at this time. The stored time follows the clocks slowly, so that a wrong
    /// clock does not delete many rows too early.
    pub pace: Duration,
}

/// A table whose rows housekeeping sums up in the daily counts: messages and delivered events per API key and day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CountedTable {
    /// The envelopes. Each is counted as sent by its sender and as received by its recipient.
    Envelopes,
    /// The attempts. Each success is counted as a delivered event of the key that owns the webhook.
    Attempts,
}

/// The next rows of a table that the daily counts do not include yet, summed by day.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UncountedRows {
    /// The table of the rows.
    pub table: CountedTable,
    /// Id of the last row that the daily counts include. `None` if the daily counts include no row of the table yet.
    pub after: Option<String>,
    /// Id of the last of the rows.
    pub last: String,
    /// Number of the rows.
    pub number: u64,
    /// Numbers of sent and received envelopes, by API key and start of the day.
    pub keys: DailyCounts,
    /// Numbers of successful attempts, by webhook and start of the day.
    pub webhooks: BTreeMap<(WebhookId, Timestamp), u64>,
}

impl UncountedRows {
    /// Counts an envelope that was sent on this day.
    pub fn add_envelope(&mut self, sender: ApiKeyId, recipient: ApiKeyId, day: Timestamp) {
        let none = DailyCount { day, sent: 0, received: 0, delivered: 0 };
        add_count(&mut self.keys, sender, DailyCount { sent: 1, ..none });
        add_count(&mut self.keys, recipient, DailyCount { received: 1, ..none });
    }

    /// Adds the counts of `next`: the rows that directly follow these rows in the same table.
    pub fn add(&mut self, next: Self) {
        self.last = next.last;
        self.number = self.number.saturating_add(next.number);
        for ((key, _), count) in next.keys {
            add_count(&mut self.keys, key, count);
        }
        for (place, successes) in next.webhooks {
            let sum = self.webhooks.entry(place).or_default();
            *sum = sum.saturating_add(successes);
        }
    }

    /// Returns the number of sums in `keys` and `webhooks`. One transaction adds all of them to the daily counts.
    pub fn sums(&self) -> usize {
        self.keys.len().saturating_add(self.webhooks.len())
    }

    /// Returns all sums by API key and start of the day. Leaves out webhooks that are not in `owners`, because these
    /// webhooks are deleted.
    pub fn by_key(&self, owners: &HashMap<WebhookId, ApiKeyId>) -> DailyCounts {
        let mut sums = self.keys.clone();
        for ((webhook_id, day), successes) in &self.webhooks {
            let Some(owner) = owners.get(webhook_id) else { continue };
            let count = DailyCount { day: *day, sent: 0, received: 0, delivered: *successes };
            add_count(&mut sums, *owner, count);
        }
        sums
    }
}

fn add_count(counts: &mut DailyCounts, key: ApiKeyId, count: DailyCount) {
    counts.entry((key, count.day)).and_modify(|sum| sum.add(&count)).or_insert(count);
}

/// Numbers of sent envelopes, received envelopes and delivered events, by API key and start of the day.
pub type DailyCounts = BTreeMap<(ApiKeyId, Timestamp), DailyCount>;

/// Rows that housekeeping deletes by a time in the row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExpiringRows {
    /// API tokens, by the end of their validity.
    ApiTokens,
    /// Contacts of API keys, by the time of the last message to the contact.
    Contacts,
    /// Records of `Idempotency-Key` headers, by their creation.
    IdempotencyKeys,
    /// Sessions, by the end of their validity.
    Sessions,
    /// Records of dashboard forms that were submitted, by the time of the submission.
    UsedForms,
}

/// A server process that uses the database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Node {
    /// Random number that the server chose when it started.
    pub id: LeaseToken,
    /// Host name of the server.
    pub host: String,
    /// Version of the server program.
    pub version: String,
    /// Public URL of the service in the settings of the server.
    pub base_url: String,
    /// Time at which the server started.
    pub started_at: Timestamp,
    /// Time at which the server last updated this row.
    pub seen_at: Timestamp,
}

impl Node {
    /// Returns whether the server was seen within the last three minutes. A running server renews its row once a
    /// minute.
    pub fn is_running(&self, now: Timestamp) -> bool {
        now.abs_diff(self.seen_at) < STOPPED_AFTER
    }
}

/// The newest turn of a housekeeping task: the exclusive right of one node to run the task for a limited time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskTurn {
    /// Name of the task.
    pub task: String,
    /// The node that has the turn or had the last turn.
    pub node: LeaseToken,
    /// End of the turn. Afterwards any node may take the next turn.
    pub until: Timestamp,
}

/// Time after the last renewal of its row at which a server counts as stopped.
const STOPPED_AFTER: Duration = Duration::from_mins(3);
