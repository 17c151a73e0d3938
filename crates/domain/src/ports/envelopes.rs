//! The ports for stored envelopes: the recipient opens an envelope, and the sender reads its receipt (its state).

use std::collections::HashMap;

use super::error::StoreError;
use crate::{
    ApiKeyId, Channel, ChannelId, Envelope, EnvelopeId, Handle, MessageContext, ReceiptFacts,
    ReceiptPolicy, ThreadId, Timestamp,
};

/// Reads sent envelopes, and the data for their receipts.
pub trait ReceiptLookup {
    /// Finds an envelope that `sender` sent. `None` if this key sent no envelope with this id.
    fn find_sent(
        &mut self,
        id: &EnvelopeId,
        sender: &ApiKeyId,
    ) -> Result<Option<SentEnvelope>, StoreError>;

    /// Lists envelopes of a sender, newest first. Examines a bounded number of envelopes, so a page can have fewer
    /// envelopes than the limit, even if more follow.
    fn list_sent(&mut self, query: &SentQuery) -> Result<SentList, StoreError>;

    /// Finds the envelopes that `key` sent or received, each with its thread. Omits all other envelopes.
    fn find_threads(
        &mut self,
        ids: &[EnvelopeId],
        key: &ApiKeyId,
    ) -> Result<HashMap<EnvelopeId, Option<ThreadId>>, StoreError>;
}

/// Selects a page of the envelopes of a sender.
#[derive(Debug, Clone)]
pub struct SentQuery {
    /// The API key of the sender.
    pub sender: ApiKeyId,
    /// The API key of the recipient; `None` for all recipients.
    pub recipient: Option<ApiKeyId>,
    /// The thread; `None` for all envelopes, with and without a thread.
    pub thread: Option<ThreadId>,
    /// Start of the time range, inclusive.
    pub since: Timestamp,
    /// End of the time range, exclusive; `None` for no end.
    pub until: Option<Timestamp>,
    /// The position after the previous page; `None` for the first page.
    pub below: Option<EnvelopeId>,
    /// Maximum number of envelopes.
    pub limit: u32,
}

/// A page of the envelopes of a sender.
#[derive(Debug, PartialEq, Eq)]
pub struct SentList {
    /// The envelopes, newest first.
    pub envelopes: Vec<SentEnvelope>,
    /// The position after this page; `None` on the last page.
    pub next: Option<EnvelopeId>,
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
    /// The part of the state that the recipient shows.
    pub receipts: ReceiptPolicy,
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
