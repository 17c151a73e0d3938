//! What an account's owner looks at. Nothing here admits anybody: whoever asks has checked whose account it is.

use super::StoreError;
use crate::{AccountId, ApiKey, ApiKeyId, GovernanceStanding, Session, Timestamp, Usage};

/// Reads for the pages of an account's owner.
pub trait OwnerLookup {
    /// The account's keys, the newest first, at most `limit`; those that are not revoked come before those that are.
    fn keys_of(&mut self, account: &AccountId, limit: u32) -> Result<Vec<KeyOverview>, StoreError>;

    /// One of them; `None` where the account has no such key.
    fn key_of(
        &mut self,
        account: &AccountId,
        id: &ApiKeyId,
    ) -> Result<Option<KeyOverview>, StoreError>;

    /// The account's sessions that are live at `now`, at most `limit`, those that last longest first.
    fn sessions_of(
        &mut self,
        account: &AccountId,
        now: Timestamp,
        limit: u32,
    ) -> Result<Vec<Session>, StoreError>;

    /// What the key sent and received on each day from `since` on, in order; days without anything are left out.
    fn daily_counts(
        &mut self,
        key: &ApiKeyId,
        since: Timestamp,
    ) -> Result<Vec<DailyCount>, StoreError>;

    /// How many notices wait to be sent to the key's webhooks; no more than `limit` are counted.
    fn count_pending(&mut self, key: &ApiKeyId, limit: u32) -> Result<u64, StoreError>;
}

/// A key with everything that says how it is.
#[derive(Debug, Clone)]
pub struct KeyOverview {
    /// The key.
    pub key: ApiKey,
    /// What it has used.
    pub usage: Usage,
    /// Where it stands with governance.
    pub standing: GovernanceStanding,
    /// How many webhooks it has.
    pub webhooks: u64,
}

/// A key's day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DailyCount {
    /// The day's beginning, UTC.
    pub day: Timestamp,
    /// Envelopes that it sent.
    pub sent: u64,
    /// Envelopes that were sent to it.
    pub received: u64,
    /// Notices that its webhooks took.
    pub delivered: u64,
}
