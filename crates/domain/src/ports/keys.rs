//! API keys and their handles, as the database returns them.

use crate::{AccountId, ApiKeyId, Handle, KeyStatus, Label};

/// The numbers of rows deleted by the revocation of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RevocationSummary {
    /// Number of deleted webhooks.
    pub webhooks: u64,
    /// Number of deliveries that this call deleted. Housekeeping deletes the rest of a long backlog.
    pub deliveries: u64,
}

/// The fields of an API key that decide whether its cached secrets and channels are still valid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeySnapshot {
    /// Id of the API key.
    pub id: ApiKeyId,
    /// Status of the key. New channels need active keys, and secrets of revoked keys must not be cached.
    pub status: KeyStatus,
    /// Version of the newest sealing key (the key pair to which messages are encrypted), for new envelopes and
    /// channels.
    pub sealing_version: u32,
}

/// The owner of a handle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HandleOwner {
    /// The account that owns the key. After the key is revoked, the handle stays reserved for this account.
    pub account_id: AccountId,
    /// The API key with this handle.
    pub api_key_id: ApiKeyId,
}

/// The public profile of a key: the data that other keys can see.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyProfile {
    /// The handle by which senders can address the key; `None` if the key has no handle.
    pub handle: Option<Handle>,
    /// Display name; `None` if the policy of the key hides it.
    pub label: Option<Label>,
    /// Status of the key.
    pub status: KeyStatus,
}
