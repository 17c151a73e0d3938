//! The ports for the policies of recipients, their contacts, and the profiles that other keys can see.

use std::collections::HashMap;

use super::error::StoreError;
use crate::{ApiKeyId, EnvelopeId, Handle, KeyStatus, Label, RecipientPolicy, Timestamp};

/// Reads policies, profiles, and the recipients of stored envelopes.
pub trait PolicyLookup {
    /// Finds the policy of a key as a recipient; `None` if the key has the default policy.
    fn find_policy(&mut self, id: &ApiKeyId) -> Result<Option<RecipientPolicy>, StoreError>;

    /// Finds the profile of a key; `None` if no key has this id.
    fn find_profile(&mut self, id: &ApiKeyId) -> Result<Option<KeyProfile>, StoreError>;

    /// Finds the profiles of several keys. Omits unknown keys.
    fn find_profiles(
        &mut self,
        ids: &[ApiKeyId],
    ) -> Result<HashMap<ApiKeyId, KeyProfile>, StoreError>;

    /// Finds the sender of an envelope to `recipient`; `None` if there is no such envelope.
    fn find_sender(
        &mut self,
        envelope: &EnvelopeId,
        recipient: &ApiKeyId,
    ) -> Result<Option<ApiKeyId>, StoreError>;

    /// Reads the next page of all stored envelopes: up to `limit` envelopes of any sender, with ids above `after`.
    /// Returns the recipients of the envelopes that `sender` sent. `None` if no envelope has an id above `after`.
    fn sent_page(
        &mut self,
        sender: &ApiKeyId,
        after: &EnvelopeId,
        limit: u32,
    ) -> Result<Option<SentPage>, StoreError>;
}

/// Writes policies and contacts.
pub trait PolicyRepo {
    /// Replaces the policy of a locked key.
    fn set_policy(&mut self, id: &ApiKeyId, policy: &RecipientPolicy) -> Result<(), StoreError>;

    /// Stores contacts. If a contact is already stored, keeps the later of the stored and the new time of the last
    /// message.
    fn insert_contacts(&mut self, contacts: &[Contact]) -> Result<(), StoreError>;
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

/// The recipients of one sender's envelopes on one page. The page is a range of all stored envelopes, ordered by id,
/// and also contains envelopes of other senders.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SentPage {
    /// Id of the last envelope on the page, of any sender. The next page begins after this id.
    pub last: EnvelopeId,
    /// The recipients of the sender's envelopes on the page, each with the time of the newest one.
    pub contacts: Vec<Contact>,
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
