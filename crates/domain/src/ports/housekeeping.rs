//! What housekeeping asks of a database: deletions and counts, each in bounded portions.

use std::time::Duration;

use super::StoreError;
use crate::{LeaseToken, Timestamp};

/// A node that would do a chore.
#[derive(Debug, Clone, Copy)]
pub struct HousekeepingTurn<'a> {
    /// Its name.
    pub task: &'a str,
    /// Who would do it.
    pub node: LeaseToken,
    /// What the node's clock says.
    pub now: Timestamp,
    /// How long nobody else may do it.
    pub held_for: Duration,
    /// How far the chore's time may move.
    pub pace: Duration,
}

/// What has had its time, deleted in bounded batches. Each answers how many it deleted.
pub trait HousekeepingRepo {
    /// Takes the right to do a chore; `None` where another node has it. Who has it may take it again.
    ///
    /// Answers the instant to do the chore by, since what is deleted by a clock that is wrong is lost. It is never after
    /// `now` nor, where the database is a server, after what the server's clock says. And it is never after the chore's
    /// own time, which was written down when the chore was last taken, and moves towards the earlier of these clocks by
    /// `pace` at the most, forward and back. A chore that was never taken has no time yet, and believes them.
    fn take_housekeeping_turn(
        &mut self,
        turn: &HousekeepingTurn<'_>,
    ) -> Result<Option<Timestamp>, StoreError>;

    /// Sessions that expired before `before`.
    fn purge_sessions(&mut self, before: Timestamp, limit: u32) -> Result<u64, StoreError>;

    /// Envelopes sealed before `before`, with the deliveries that are left of them.
    fn purge_envelopes(&mut self, before: Timestamp, limit: u32) -> Result<u64, StoreError>;

    /// Channels that envelopes may not have been sealed under any more since `before`, where none of that time is
    /// left; `life` is the longest that a channel is used.
    fn purge_channels(
        &mut self,
        before: Timestamp,
        life: Duration,
        limit: u32,
    ) -> Result<u64, StoreError>;

    /// Adds envelopes sent before `before` that were not counted yet to their senders' and recipients' days.
    fn count_envelopes(&mut self, before: Timestamp, limit: u32) -> Result<u64, StoreError>;

    /// Adds attempts that ended before `before` and were not counted yet to the days of the keys whose webhooks
    /// took them.
    fn count_attempts(&mut self, before: Timestamp, limit: u32) -> Result<u64, StoreError>;

    /// Days that ended before `before`.
    fn purge_daily_counts(&mut self, before: Timestamp, limit: u32) -> Result<u64, StoreError>;

    /// What was remembered of idempotent sends before `before`.
    fn purge_idempotency_keys(&mut self, before: Timestamp, limit: u32) -> Result<u64, StoreError>;

    /// Attempts that ended before `before`.
    fn purge_attempts(&mut self, before: Timestamp, limit: u32) -> Result<u64, StoreError>;

    /// Deliveries to webhooks that are gone, their attempts, and then what is left of them.
    fn purge_deleted_webhooks(&mut self, limit: u32) -> Result<u64, StoreError>;

    /// Signing secrets that have retired by `now`; how many webhooks had some.
    fn purge_retired_secrets(&mut self, now: Timestamp, limit: u32) -> Result<u64, StoreError>;
}
