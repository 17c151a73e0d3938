//! The ports for stored envelopes: the recipient opens an envelope, and the sender reads its receipt (its state).

use std::collections::HashMap;

use super::error::StoreError;
use crate::{
    ApiKeyId, Channel, ChannelId, Envelope, EnvelopeId, Handle, MessageContext, ReceiptFacts,
    ThreadId, Timestamp,
};

/// Reads sent envelopes, and the data for their receipts.
pub trait ReceiptLookup {
    /// Finds an envelope that `sender` sent. `None` if this key sent no envelope with this id.
    fn find_sent(
        &mut self,
        id: &EnvelopeId,
        sender: &ApiKeyId,
    ) -> Result<Option<SentEnvelope>, StoreError>;

    /// Finds the envelopes that `key` sent or received, each with its thread. Omits all other envelopes.
    fn find_threads(
        &mut self,
        ids: &[EnvelopeId],
        key: &ApiKeyId,
    ) -> Result<HashMap<EnvelopeId, Option<ThreadId>>, StoreError>;
}

/// A stored envelope, with the data for the receipt that its sender reads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SentEnvelope {
    /// Id of the envelope.
    pub id: EnvelopeId,
    /// The API key that can open the envelope.
    pub recipient: ApiKeyId,
    /// Time at which the envelope was sealed.
    pub sent_at: Timestamp,
    /// Thread, type and replied envelope of the message.
    pub context: MessageContext,
    /// The data that determines the state of the envelope.
    pub facts: ReceiptFacts,
}

/// Reads stored envelopes and channels, and records the opening of envelopes.
pub trait EnvelopeRepo {
    /// Finds an envelope that is addressed to `recipient`. `None` if this key received no envelope with this id.
    fn find_envelope(
        &mut self,
        id: &EnvelopeId,
        recipient: &ApiKeyId,
    ) -> Result<Option<AddressedEnvelope>, StoreError>;

    /// Finds a channel. The recipient needs it to open the envelopes of the channel.
    fn find_channel(&mut self, id: &ChannelId) -> Result<Option<Channel>, StoreError>;

    /// Records `at` as the time of the first opening, unless an earlier opening is already recorded. Returns the
    /// recorded time of the first opening.
    fn mark_opened(&mut self, id: &EnvelopeId, at: Timestamp) -> Result<Timestamp, StoreError>;
}

/// A stored envelope as its recipient sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AddressedEnvelope {
    /// The envelope.
    pub envelope: Envelope,
    /// Time of the first opening; `None` if the envelope was not opened.
    pub opened_at: Option<Timestamp>,
    /// The handle by which other keys can address the sender of this envelope; `None` if the sender has no handle.
    pub sender_handle: Option<Handle>,
}
