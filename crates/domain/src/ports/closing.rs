//! The values that describe the closing of an account: its extent, its progress, and the numbers of changed rows.

use schemars::JsonSchema;
use serde::Serialize;

use crate::{Timestamp, named_enum::named_enum};

named_enum! {
    /// The amount of data that the closing of an account deletes.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum ClosingExtent {
        /// Ends all sessions and revokes all keys of the account. Labels, handles and the activity log stay.
        Close = "close",
        /// Also deletes the personal data of the owner, such as labels, handles and the activity log.
        Erase = "erase",
    }
}

/// The closing of an account, which takes several transactions. A second request for the same account continues the
/// first closing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Closing {
    /// Time of the first request.
    pub closed_at: Timestamp,
    /// The largest extent of this request and all earlier ones.
    pub extent: ClosingExtent,
}

/// The result of one step in the closing of an account. Each step changes a limited number of rows, so that no
/// transaction becomes too long.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ClosedPortion {
    /// Numbers of rows that this step deleted or changed.
    pub rows: DeletedRows,
    /// Whether the closing is complete.
    pub is_complete: bool,
}

/// Numbers of rows that the closing of an account deleted or changed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, JsonSchema, Serialize)]
pub struct DeletedRows {
    /// Number of deleted sessions.
    pub sessions: u64,
    /// Number of deleted API tokens.
    pub api_tokens: u64,
    /// Number of revoked keys. The secrets of these keys are destroyed, so envelopes to these keys cannot be opened.
    pub keys_revoked: u64,
    /// Number of deleted webhooks, with their URLs and secrets.
    pub webhooks: u64,
    /// Number of deleted deliveries (events to be sent) to these webhooks. If there are very many, housekeeping deletes
    /// the rest later.
    pub deliveries: u64,
    /// Number of erased handles.
    pub handles: u64,
    /// Number of erased labels of keys. If a label is erased, the allowlist and the blocklist of its key are emptied
    /// too.
    pub labels: u64,
    /// Number of deleted entries of the activity log, which contain client addresses.
    pub activity: u64,
    /// Number of deleted values of the header `Idempotency-Key`.
    pub idempotency_keys: u64,
    /// Number of deleted daily counts of sent, received and delivered messages.
    pub daily_counts: u64,
    /// Number of deleted contacts (keys to which a key of the account has sent).
    pub contacts: u64,
    /// Number of deleted statements: texts about the keys and badges of the account. The hashes of these texts stay in
    /// the transparency log.
    pub log_statements: u64,
}

impl DeletedRows {
    /// Returns the sums of these numbers and the numbers of `other`.
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
            log_statements: self.log_statements.saturating_add(other.log_statements),
        }
    }
}
