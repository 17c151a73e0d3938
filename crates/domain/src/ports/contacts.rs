//! The contacts of a key: other keys to which it has sent messages.

use crate::{ApiKeyId, EnvelopeId, Timestamp};

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
