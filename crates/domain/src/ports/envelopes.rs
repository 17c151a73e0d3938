//! The port for stored envelopes and channels, as the recipient opens them.

use super::error::StoreError;
use crate::{ApiKeyId, Channel, ChannelId, Envelope, EnvelopeId, Handle, ReceiptFacts, Timestamp};

/// Reads the facts of receipts.
pub trait ReceiptLookup {
    /// Finds an envelope that `sender` sent.
    fn find_sent(
        &mut self,
        id: &EnvelopeId,
        sender: &ApiKeyId,
    ) -> Result<Option<SentEnvelope>, StoreError>;
}

/// A stored envelope, as the receipt for its sender needs it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SentEnvelope {
    /// The key that can open the envelope.
    pub recipient: ApiKeyId,
    /// Time of sealing.
    pub sent_at: Timestamp,
    /// The facts that decide on its state.
    pub facts: ReceiptFacts,
}

/// Reads stored envelopes and channels, and records the opening of envelopes.
pub trait EnvelopeRepo {
    /// Finds an envelope that is addressed to `recipient`.
    fn find_envelope(
        &mut self,
        id: &EnvelopeId,
        recipient: &ApiKeyId,
    ) -> Result<Option<AddressedEnvelope>, StoreError>;

    /// Finds a channel. The recipient needs it to open the envelopes of the channel.
    fn find_channel(&mut self, id: &ChannelId) -> Result<Option<Channel>, StoreError>;

    /// Records the time of the first opening, and returns it. If an earlier opening is recorded, its time stays and is
    /// returned.
    fn mark_opened(&mut self, id: &EnvelopeId, at: Timestamp) -> Result<Timestamp, StoreError>;
}

/// A stored envelope as its recipient sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AddressedEnvelope {
    /// The envelope.
    pub envelope: Envelope,
    /// Time of the first opening; `None` if it was not opened.
    pub opened_at: Option<Timestamp>,
    /// The handle that resolves to the sender; `None` if there is no such handle.
    pub sender_handle: Option<Handle>,
}
