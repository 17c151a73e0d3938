//! The port for housekeeping: tasks that delete expired rows and update daily counts. Each call processes a limited
//! number of rows.

use std::time::Duration;

use super::{account::DailyCount, error::StoreError};
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
    /// from a wrong clock: see [`HousekeepingRepo::take_housekeeping_turn`].
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

/// Reads the rows that housekeeping adds to the daily counts.
pub trait CountLookup {
    /// Reads and sums up to `limit` uncounted rows of `table` that were written before `before`. `None` if no row is
    /// left. [`HousekeepingRepo::count`] adds the sums to the daily counts.
    ///
    /// Call it outside a transaction, because all other writers of an embedded database wait for a transaction.
    fn uncounted(
        &mut self,
        table: CountedTable,
        before: Timestamp,
        limit: u32,
    ) -> Result<Option<UncountedRows>, StoreError>;
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

/// Deletes expired rows, and adds new rows to the daily counts. A call processes at most `limit` rows. Each `purge_`
/// method returns the number of deleted rows.
pub trait HousekeepingRepo {
    /// Takes or renews a turn: the exclusive right of this node to run a task. `None` if another node has the turn.
    ///
    /// Returns the time at which the task runs. The task deletes rows that have expired at this time. With the time of
    /// a clock that is far ahead, the task would delete too much. Therefore the database stores a time for each task,
    /// and the returned time is the earliest of:
    /// - `now`, the clock of the node
    /// - the clock of the database server
    /// - the time stored for the task
    ///
    /// Each call moves the stored time towards the earlier of the two clocks, by at most `pace` in either direction.
    /// Before the first call for a task, no time is stored, so the first call uses only the clocks.
    fn take_housekeeping_turn(
        &mut self,
        turn: &HousekeepingTurn<'_>,
    ) -> Result<Option<Timestamp>, StoreError>;

    /// Creates partitions for the rows of the next `span`, if the database has partitions. Returns true if any
    /// partition was created. Uses the earlier of `now` and the clock of the database server.
    ///
    /// A partition contains the rows of about `span`, and retention drops a partition once all its rows have expired.
    /// Therefore a row can stay stored for about `span` after it has expired.
    fn extend_partitions(&mut self, now: Timestamp, span: Duration) -> Result<bool, StoreError>;

    /// Deletes rows of one kind with a time from before `before`.
    fn purge_expired(
        &mut self,
        rows: ExpiringRows,
        before: Timestamp,
        limit: u32,
    ) -> Result<u64, StoreError>;

    /// Deletes entries of activity logs that are older than `before`.
    fn purge_activity(&mut self, before: Timestamp, limit: u32) -> Result<u64, StoreError>;

    /// Deletes envelopes that were sealed before `before`, and the deliveries that these envelopes still have.
    /// Subtracts the size of the deleted envelopes from the stored bytes of their senders.
    ///
    /// A deleted envelope bounces at `now` (its sender gets an event) if all of these hold:
    /// - It was not opened.
    /// - None of its deliveries succeeded.
    /// - It was waiting for a webhook, or at least one of its deliveries was still stored.
    ///
    /// Returns `limit` if more work may be left, even if the call deleted fewer envelopes.
    fn purge_envelopes(
        &mut self,
        before: Timestamp,
        now: Timestamp,
        limit: u32,
    ) -> Result<u64, StoreError>;

    /// Deletes events that were created before `before`, and the deliveries that these events still have. Also deletes
    /// the recorded outcomes (delivered or bounced) of envelopes that are already deleted. The returned number is the
    /// sum of deleted events and deleted outcomes.
    fn purge_events(&mut self, before: Timestamp, limit: u32) -> Result<u64, StoreError>;

    /// Stores events that inform the correspondents of changed keys. The correspondents of a key are the keys that sent
    /// to this key or received from it. Finds the correspondents in the stored envelopes, which are read newest first.
    ///
    /// Each call reads up to `limit` envelopes, down to those sealed at `oldest`. Returns `true` if envelopes are left to
    /// read. At most `informed_max` correspondents of a changed key get an event, and each of them gets one event. The
    /// deliveries of the events are due at `now`.
    fn inform_correspondents(
        &mut self,
        oldest: Timestamp,
        now: Timestamp,
        informed_max: u32,
        limit: u32,
    ) -> Result<bool, StoreError>;

    /// Deletes channels that ended before `before` and have no envelopes left. A channel ends `life` after its start.
    fn purge_channels(
        &mut self,
        before: Timestamp,
        life: Duration,
        limit: u32,
    ) -> Result<u64, StoreError>;

    /// Adds the rows that [`CountLookup::uncounted`] has read to the daily counts. Returns the number of counted rows,
    /// or 0 if rows of the table were counted since these rows were read.
    fn count(&mut self, rows: &UncountedRows) -> Result<u64, StoreError>;

    /// Deletes daily counts of days that ended before `before`.
    fn purge_daily_counts(&mut self, before: Timestamp, limit: u32) -> Result<u64, StoreError>;

    /// Deletes attempts that ended before `before`.
    fn purge_attempts(&mut self, before: Timestamp, limit: u32) -> Result<u64, StoreError>;

    /// Deletes the deliveries and attempts of deleted webhooks, then all other rows about these webhooks. Envelopes
    /// bounce at `now` under the same condition as in [`WebhookRepo::delete_webhook`].
    ///
    /// [`WebhookRepo::delete_webhook`]: super::WebhookRepo::delete_webhook
    fn purge_deleted_webhooks(&mut self, now: Timestamp, limit: u32) -> Result<u64, StoreError>;

    /// Deletes replaced signing secrets that are no longer in use at `now`. Returns the number of affected webhooks.
    fn purge_retired_secrets(&mut self, now: Timestamp, limit: u32) -> Result<u64, StoreError>;
}
