//! API keys, their handles and their contacts, as the database returns them.

use crate::{AccountId, ApiKeyId, EnvelopeId, Handle, KeyStatus, Label, Timestamp};

/// The numbers of rows deleted by the revocation of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RevocationSummary {
    /// Number of deleted webhooks.
    pub webhooks: u64,
    /// Number of deliveries that this call deleted. Housekeeping deletes the rest of a long backlog.
    pub deliveries: u64,
}

/// The fields of an API key that decide whether its cached secrets and its cached [channels](crate::Channel) are still
/// valid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeySnapshot {
    /// Id of the API key.
    pub id: ApiKeyId,
    /// Status of the key. New channels need active keys, and secrets of revoked keys must not be cached.
    pub status: KeyStatus,
    /// Version of the newest sealing key (the key pair to which messages are encrypted). New envelopes and channels use
    /// this version.
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

/// A contact of an API key: another key to which the API key has sent a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Contact {
    /// The API key that sent the message.
    pub api_key_id: ApiKeyId,
    /// The key that received the message.
    pub contact: ApiKeyId,
    /// Time of the newest message from the sending key to the contact.
    pub sent_at: Timestamp,
}

/// One step of the search for all contacts of a sender. Each step reads a page: the next stored envelopes in the order
/// of ids, of this and of other senders.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SentPage {
    /// Id of the last envelope on the page, of any sender. The next page begins after this id.
    pub last: EnvelopeId,
    /// The recipients of the sender's envelopes on the page, each with the time of the newest envelope.
    pub contacts: Vec<Contact>,
}
