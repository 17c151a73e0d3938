//! What housekeeping asks of a database: deletions and counts, each in bounded portions.

use std::time::Duration;

use super::StoreError;
use crate::{LeaseToken, Timestamp};

/// What has had its time, deleted in bounded batches. Each answers how many it deleted.
pub trait HousekeepingRepo {
    /// Takes the right to do this chore until `until`; `false` where another node has it. Who holds it may take it
    /// again.
    fn take_chore(
        &mut self,
        chore: &str,
        node: LeaseToken,
        now: Timestamp,
        until: Timestamp,
    ) -> Result<bool, StoreError>;

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

    /// Adds attempts that ended before `before` and were not counted yet to the days of the keys whose registrations
    /// took them.
    fn count_attempts(&mut self, before: Timestamp, limit: u32) -> Result<u64, StoreError>;

    /// Days that ended before `before`.
    fn purge_daily_counts(&mut self, before: Timestamp, limit: u32) -> Result<u64, StoreError>;

    /// What was remembered of idempotent sends before `before`.
    fn purge_remembered(&mut self, before: Timestamp, limit: u32) -> Result<u64, StoreError>;

    /// Attempts that ended before `before`.
    fn purge_attempts(&mut self, before: Timestamp, limit: u32) -> Result<u64, StoreError>;

    /// Deliveries to registrations that are gone, their attempts, and then what is left of them.
    fn purge_former_webhooks(&mut self, limit: u32) -> Result<u64, StoreError>;

    /// Signing secrets that have retired by `now`; how many registrations had some.
    fn purge_retired_secrets(&mut self, now: Timestamp, limit: u32) -> Result<u64, StoreError>;
}
