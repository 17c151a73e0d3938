//! The port for housekeeping: deletes expired rows and updates daily counts, in batches of limited size.

use std::time::Duration;

use super::error::StoreError;
use crate::{LeaseToken, Timestamp};

/// A node's request for the exclusive right to run a housekeeping task.
#[derive(Debug, Clone, Copy)]
pub struct HousekeepingTurn<'a> {
    /// Name of the housekeeping task.
    pub task: &'a str,
    /// Token that identifies the requesting node.
    pub node: LeaseToken,
    /// Current time of the node's clock.
    pub now: Timestamp,
    /// Duration of the right: no other node may run the task for this time.
    pub held_for: Duration,
    /// Maximum change of the stored time of the task: see [`HousekeepingRepo::take_housekeeping_turn`].
    pub pace: Duration,
}

/// Deletes expired rows and counts new ones, at most `limit` rows per call. Each `purge_` method returns the number of
/// deleted rows.
pub trait HousekeepingRepo {
    /// Takes or renews the exclusive right to run a task. `None` if another node holds the right.
    ///
    /// Returns the current time for the task, by which rows expire. A wrong clock could delete too much, so the
    /// returned time is the earliest of:
    /// - `now`, the clock of the node
    /// - the clock of the database server
    /// - the stored time of the task
    ///
    /// Each call moves the stored time towards the earlier of the two clocks, by at most `pace` in either direction.
    /// The first call for a task has no stored time, and uses only the clocks.
    fn take_housekeeping_turn(
        &mut self,
        turn: &HousekeepingTurn<'_>,
    ) -> Result<Option<Timestamp>, StoreError>;

    /// Deletes sessions that expired before `before`.
    fn purge_sessions(&mut self, before: Timestamp, limit: u32) -> Result<u64, StoreError>;

    /// Deletes activity of accounts from before `before`.
    fn purge_activity(&mut self, before: Timestamp, limit: u32) -> Result<u64, StoreError>;

    /// Deletes envelopes sealed before `before`, and their remaining deliveries. Subtracts the sealed bytes from the
    /// stored bytes of the senders. An unopened envelope that waits or has remaining deliveries bounces at `now`, unless
    /// one of its deliveries succeeded.
    fn purge_envelopes(
        &mut self,
        before: Timestamp,
        now: Timestamp,
        limit: u32,
    ) -> Result<u64, StoreError>;

    /// Deletes events created before `before`, and their remaining deliveries. Also deletes the recorded outcomes
    /// (delivered or bounced) of deleted envelopes. The returned number includes both events and outcomes.
    fn purge_events(&mut self, before: Timestamp, limit: u32) -> Result<u64, StoreError>;

    /// Stores events for the correspondents of changed keys: the keys that sent to such a key or got from it, as the
    /// stored envelopes show. Reads up to `limit` envelopes, newest first. Informs at most `informed_max` keys of each
    /// change, and each key once. Returns whether the stored envelopes are not all read yet.
    fn inform_correspondents(&mut self, informed_max: u32, limit: u32) -> Result<bool, StoreError>;

    /// Deletes channels without remaining envelopes, if they ended before `before`. A channel ends `life` after its
    /// start.
    fn purge_channels(
        &mut self,
        before: Timestamp,
        life: Duration,
        limit: u32,
    ) -> Result<u64, StoreError>;

    /// Adds up to `limit` uncounted envelopes sent before `before` to the daily counts of senders and recipients.
    /// Returns the number of counted envelopes.
    fn count_envelopes(&mut self, before: Timestamp, limit: u32) -> Result<u64, StoreError>;

    /// Adds up to `limit` uncounted attempts that ended before `before` to the daily counts. Each success counts for
    /// the key of the webhook. Returns the number of counted attempts.
    fn count_attempts(&mut self, before: Timestamp, limit: u32) -> Result<u64, StoreError>;

    /// Deletes daily counts of days that ended before `before`.
    fn purge_daily_counts(&mut self, before: Timestamp, limit: u32) -> Result<u64, StoreError>;

    /// Deletes up to `limit` contacts whose last message was sent before `before`. Returns the number.
    fn purge_contacts(&mut self, before: Timestamp, limit: u32) -> Result<u64, StoreError>;

    /// Deletes records of `Idempotency-Key` headers stored before `before`.
    fn purge_idempotency_keys(&mut self, before: Timestamp, limit: u32) -> Result<u64, StoreError>;

    /// Deletes attempts that ended before `before`.
    fn purge_attempts(&mut self, before: Timestamp, limit: u32) -> Result<u64, StoreError>;

    /// Deletes the deliveries and attempts of deleted webhooks, then all other rows about these webhooks. Envelopes
    /// bounce at `now` under the same condition as in [`WebhookRepo::delete_webhook`].
    ///
    /// [`WebhookRepo::delete_webhook`]: super::WebhookRepo::delete_webhook
    fn purge_deleted_webhooks(&mut self, now: Timestamp, limit: u32) -> Result<u64, StoreError>;

    /// Deletes replaced signing secrets after the end of their use at `now`. Returns the number of affected webhooks.
    fn purge_retired_secrets(&mut self, now: Timestamp, limit: u32) -> Result<u64, StoreError>;
}
