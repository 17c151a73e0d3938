//! Bodies of the operations of envelopes.

use std::fmt;

use sealpost_domain::{ApiKeyId, EnvelopeId, ReceiptState, Timestamp};
use serde::{Deserialize, Serialize};

/// A stored envelope.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct SentEnvelope {
    /// Id of the envelope.
    pub envelope_id: EnvelopeId,
    /// Hash of the sealed bytes.
    pub envelope_hash: String,
    /// Always `delivered`: the envelope is stored for its recipient.
    pub status: String,
    /// The key that sent the message.
    pub sender: ApiKeyId,
    /// The key that can open the envelope.
    pub recipient: ApiKeyId,
    /// The sealing suite.
    pub encryption: Encryption,
    /// Size and time.
    pub metadata: Metadata,
}

/// An opened envelope with its message. Debug output omits the message.
#[derive(Clone, Serialize, Deserialize)]
pub struct OpenedEnvelope {
    /// Id of the envelope.
    pub envelope_id: EnvelopeId,
    /// Hash of the sealed bytes.
    pub envelope_hash: String,
    /// The key that sent the message.
    pub sender: ApiKeyId,
    /// The handle of the sender.
    pub sender_handle: Option<String>,
    /// The text.
    pub message: String,
    /// The sealing suite.
    pub encryption: Encryption,
    /// Size and time.
    pub metadata: Metadata,
    /// Time of the first opening.
    pub opened_at: Timestamp,
}

impl fmt::Debug for OpenedEnvelope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OpenedEnvelope")
            .field("envelope_id", &self.envelope_id)
            .field("sender", &self.sender)
            .finish_non_exhaustive()
    }
}

/// The sealing suite of an envelope.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Encryption {
    /// Name of the combination of algorithms.
    pub algorithm: String,
    /// Always `sealed`.
    pub status: String,
}

/// Size and time of an envelope.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Metadata {
    /// Length of the sealed bytes.
    pub payload_size_bytes: u64,
    /// Time of the sealing.
    pub timestamp: Timestamp,
}

/// The state of a sent envelope. The recipient's policy decides which times are shown.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Receipt {
    /// Id of the envelope.
    pub envelope_id: EnvelopeId,
    /// The key that can open the envelope.
    pub recipient: ApiKeyId,
    /// Time of the send.
    pub sent_at: Timestamp,
    /// The state.
    pub state: ReceiptState,
    /// Time at which a webhook of the recipient accepted the event.
    pub notified_at: Option<Timestamp>,
    /// Time of the first opening.
    pub opened_at: Option<Timestamp>,
}
