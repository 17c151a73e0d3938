//! The ports for the policies of recipients, their contacts, and the profiles that other keys can see.

use super::error::StoreError;
use crate::{ApiKeyId, EnvelopeId, Handle, KeyStatus, Label, RecipientPolicy, Timestamp};

/// Reads policies and profiles.
pub trait PolicyLookup {
    /// Finds the policy of a key; `None` if the key has the default policy.
    fn find_policy(&mut self, id: &ApiKeyId) -> Result<Option<RecipientPolicy>, StoreError>;

    /// Finds the profile of a key; `None` if the key was never issued.
    fn find_profile(&mut self, id: &ApiKeyId) -> Result<Option<KeyProfile>, StoreError>;

    /// Finds the sender of an envelope to `recipient`; `None` if there is no such envelope.
    fn find_sender(
        &mut self,
        envelope: &EnvelopeId,
        recipient: &ApiKeyId,
    ) -> Result<Option<ApiKeyId>, StoreError>;

    /// Reads the recipients of up to `limit` stored envelopes with ids above `after`, of any sender, and selects those
    /// of `sender`. Returns `None` if there are no such envelopes.
    fn sent_page(
        &mut self,
        sender: &ApiKeyId,
        after: &EnvelopeId,
        limit: u32,
    ) -> Result<Option<SentPage>, StoreError>;
}

/// Writes policies.
pub trait PolicyRepo {
    /// Sets the policy of a locked key.
    fn set_policy(&mut self, id: &ApiKeyId, policy: &RecipientPolicy) -> Result<(), StoreError>;

    /// Stores contacts. A contact that is already stored keeps the later time.
    fn insert_contacts(&mut self, contacts: &[Contact]) -> Result<(), StoreError>;
}

/// A key to which another key has sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Contact {
    /// The sending key.
    pub api_key_id: ApiKeyId,
    /// The recipient of its messages.
    pub contact: ApiKeyId,
    /// Time of the last message.
    pub sent_at: Timestamp,
}

/// One page of stored envelopes, reduced to those of one sender.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SentPage {
    /// Id of the last envelope of the page. The next page begins after this id.
    pub last: EnvelopeId,
    /// The recipients of the sender's envelopes, each with its last message.
    pub contacts: Vec<Contact>,
}

/// The part of a key that other keys can see.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyProfile {
    /// The handle that resolves to the key; `None` if there is no such handle.
    pub handle: Option<Handle>,
    /// Display name; `None` if the policy of the key hides it.
    pub label: Option<Label>,
    /// State of the key.
    pub status: KeyStatus,
}
