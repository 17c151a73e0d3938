//! The port for the activity of accounts.

use super::error::StoreError;
use crate::{AccountId, Activity, ActivityKind, Timestamp};

/// Writes the activity of accounts.
pub trait ActivityRepo {
    /// Inserts an entry. Of each kind, keeps the newest `kept_max` entries of the account.
    fn insert_activity(&mut self, entry: &Activity, kept_max: u32) -> Result<(), StoreError>;

    /// Counts the account's entries of this kind since `since`, up to `limit`.
    fn count_activity(
        &mut self,
        account: &AccountId,
        kind: ActivityKind,
        since: Timestamp,
        limit: u32,
    ) -> Result<u64, StoreError>;
}
