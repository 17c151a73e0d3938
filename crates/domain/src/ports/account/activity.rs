//! The port for the activity logs of accounts.

use crate::ports::error::StoreError;
use crate::{AccountId, Activity, ActivityKind, Timestamp};

/// Writes entries in the activity logs of accounts.
pub trait ActivityRepo {
    /// Inserts an entry. Keeps the newest `kept_max` entries of this account and kind, and deletes older ones.
    fn insert_activity(&mut self, entry: &Activity, kept_max: u32) -> Result<(), StoreError>;

    /// Counts the entries of this kind in the account's activity log, from `since` on. Stops counting at `limit`.
    fn count_activity(
        &mut self,
        account: &AccountId,
        kind: ActivityKind,
        since: Timestamp,
        limit: u32,
    ) -> Result<u64, StoreError>;
}
