//! Housekeeping: deletions and counts, each in batches of bounded size.

use std::time::Duration;

use super::error::StoreError;
use crate::{LeaseToken, Timestamp};

/// A node's request to run a housekeeping task.
#[derive(Debug, Clone, Copy)]
pub struct HousekeepingTurn<'a> {
    /// Name of the task.
    pub task: &'a str,
    /// The requesting node.
    pub node: LeaseToken,
    /// Time of the node's clock.
    pub now: Timestamp,
    /// Time during which other nodes cannot take the task.
    pub held_for: Duration,
    /// Maximum change of the task's time per turn.
    pub pace: Duration,
}

/// Deletes expired rows in bounded batches. Each `purge_` method returns the number of deleted
/// rows.
pub trait HousekeepingRepo {
    /// Takes the exclusive right to run a task, or renews it; `None` if another node holds the
    /// right.
    ///
    /// Returns the time by which the task must decide what is expired. A wrong clock would delete
    /// too much, so this time is the earliest of three: `now`, the database server's clock, and the
    /// task's own time. The task's own time was stored at its last turn. Each turn moves it towards
    /// the earlier of the two clocks by at most `pace`, in either direction. The first turn of a
    /// task uses the clocks alone.
    fn take_housekeeping_turn(
        &mut self,
        turn: &HousekeepingTurn<'_>,
    ) -> Result<Option<Timestamp>, StoreError>;

    /// Deletes sessions that expired before `before`.
    fn purge_sessions(&mut self, before: Timestamp, limit: u32) -> Result<u64, StoreError>;

    /// Deletes envelopes sealed before `before`, and their remaining deliveries. An envelope that
    /// was neither opened nor delivered bounces at `now`.
    fn purge_envelopes(
        &mut self,
        before: Timestamp,
        now: Timestamp,
        limit: u32,
    ) -> Result<u64, StoreError>;

    /// Deletes events created before `before`, and their remaining deliveries. Also deletes
    /// outcomes of deleted envelopes. The number contains both.
    fn purge_events(&mut self, before: Timestamp, limit: u32) -> Result<u64, StoreError>;

    /// Deletes channels whose last possible use was before `before`, if none of their envelopes is
    /// left. `life` is the maximum lifetime of a channel.
    fn purge_channels(
        &mut self,
        before: Timestamp,
        life: Duration,
        limit: u32,
    ) -> Result<u64, StoreError>;

    /// Adds uncounted envelopes sent before `before` to the daily counts of senders and recipients.
    fn count_envelopes(&mut self, before: Timestamp, limit: u32) -> Result<u64, StoreError>;

    /// Adds uncounted attempts that ended before `before` to the daily counts of the webhooks'
    /// keys.
    fn count_attempts(&mut self, before: Timestamp, limit: u32) -> Result<u64, StoreError>;

    /// Deletes daily counts of days that ended before `before`.
    fn purge_daily_counts(&mut self, before: Timestamp, limit: u32) -> Result<u64, StoreError>;

    /// Deletes idempotency records stored before `before`.
    fn purge_idempotency_keys(&mut self, before: Timestamp, limit: u32) -> Result<u64, StoreError>;

    /// Deletes attempts that ended before `before`.
    fn purge_attempts(&mut self, before: Timestamp, limit: u32) -> Result<u64, StoreError>;

    /// Deletes the deliveries and attempts of deleted webhooks, then their remaining rows.
    /// Envelopes bounce at `now` as with the deletion of the webhook.
    fn purge_deleted_webhooks(&mut self, now: Timestamp, limit: u32) -> Result<u64, StoreError>;

    /// Deletes signing secrets retired by `now`. Returns the number of affected webhooks.
    fn purge_retired_secrets(&mut self, now: Timestamp, limit: u32) -> Result<u64, StoreError>;
}
