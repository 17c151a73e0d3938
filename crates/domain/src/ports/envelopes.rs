//! Stored envelopes, as their senders and recipients read them.

use crate::{
    ApiKeyId, Envelope, EnvelopeId, Handle, MessageContext, ReceiptFacts, ReceiptPolicy, ThreadId,
    Timestamp,
};

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
    /// The field [`next`](SentList::next) of the previous page: only envelopes with lower ids are selected. `None` for
    /// the first page.
    pub below: Option<EnvelopeId>,
    /// Maximum number of envelopes.
    pub limit: u32,
}

/// A page of the envelopes of a sender.
#[derive(Debug, PartialEq, Eq)]
pub struct SentList {
    /// The envelopes, newest first.
    pub envelopes: Vec<SentEnvelope>,
    /// The value of [`below`](SentQuery::below) for the next page; `None` on the last page.
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
    /// The thread and the type of the message, and the envelope that it replies to.
    pub context: MessageContext,
    /// The data that determines the state of the envelope.
    pub facts: ReceiptFacts,
    /// The part of the state that the recipient shows to the sender.
    pub receipts: ReceiptPolicy,
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
