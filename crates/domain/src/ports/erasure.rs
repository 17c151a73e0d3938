//! The port for closing accounts and erasing personal data.

use schemars::JsonSchema;
use serde::Serialize;

use super::error::StoreError;
use crate::{AccountId, Timestamp};

/// Closes accounts, and erases the data that names their owners.
pub trait ErasureRepo {
    /// Closes an account: invalidates its login secret, and refuses later logins and activations. The rows of the
    /// account are deleted by [`ErasureRepo::close_portion`]. Repeating this continues an interrupted closing, and can
    /// extend its extent. Returns `false` if the account does not exist.
    fn begin_closing(
        &mut self,
        account: &AccountId,
        extent: ClosingExtent,
        now: Timestamp,
    ) -> Result<bool, StoreError>;

    /// Deletes the next rows of a closed account, at most about `limit`. Each call must be a transaction of its own,
    /// because a call locks at most one key.
    fn close_portion(
        &mut self,
        account: &AccountId,
        now: Timestamp,
        limit: u32,
    ) -> Result<ClosedPortion, StoreError>;

    /// Finds a closed account with rows left to delete.
    fn find_closing(&mut self) -> Result<Option<AccountId>, StoreError>;
}

/// The extent of a closing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClosingExtent {
    /// Ends all use of the account. Labels, handles and activity stay.
    Close,
    /// Also deletes what names the owner.
    Erase,
}

impl ClosingExtent {
    /// Returns the name used in SQL.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Close => "close",
            Self::Erase => "erase",
        }
    }

    /// Parses the name used in SQL.
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Close, Self::Erase].into_iter().find(|extent| extent.as_str() == name)
    }
}

/// The rows that one portion deleted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ClosedPortion {
    /// Number of deleted rows of each kind.
    pub rows: DeletedRows,
    /// Whether the closing is complete.
    pub is_complete: bool,
}

/// Numbers of rows that a closing deleted or changed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, JsonSchema, Serialize)]
pub struct DeletedRows {
    /// Sessions.
    pub sessions: u64,
    /// API tokens.
    pub api_tokens: u64,
    /// Keys that were revoked. Their secrets are destroyed: envelopes to them cannot be opened.
    pub keys_revoked: u64,
    /// Webhooks with their URLs and secrets.
    pub webhooks: u64,
    /// Pending deliveries to these webhooks. Housekeeping deletes the rest of a long backlog.
    pub deliveries: u64,
    /// Handles.
    pub handles: u64,
    /// Labels of keys. The allowlist and the blocklist of each such key are emptied too.
    pub labels: u64,
    /// Entries of the activity, with client addresses.
    pub activity: u64,
    /// Values of `Idempotency-Key`.
    pub idempotency_keys: u64,
    /// Daily counts.
    pub daily_counts: u64,
    /// Contacts: keys to which a key of the account has sent.
    pub contacts: u64,
}

impl DeletedRows {
    /// Adds the numbers of another portion.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            sessions: self.sessions.saturating_add(other.sessions),
            api_tokens: self.api_tokens.saturating_add(other.api_tokens),
            keys_revoked: self.keys_revoked.saturating_add(other.keys_revoked),
            webhooks: self.webhooks.saturating_add(other.webhooks),
            deliveries: self.deliveries.saturating_add(other.deliveries),
            handles: self.handles.saturating_add(other.handles),
            labels: self.labels.saturating_add(other.labels),
            activity: self.activity.saturating_add(other.activity),
            idempotency_keys: self.idempotency_keys.saturating_add(other.idempotency_keys),
            daily_counts: self.daily_counts.saturating_add(other.daily_counts),
            contacts: self.contacts.saturating_add(other.contacts),
        }
    }
}
