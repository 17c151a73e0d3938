//! Bodies of the operations of envelopes.

use std::fmt;

use sealpost_domain::{ApiKeyId, EnvelopeId, ReceiptState, Timestamp};
use serde::{Deserialize, Serialize};

/// A stored envelope.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct SentEnvelope {
    /// Id of the envelope.
    pub envelope_id: EnvelopeId,
    /// SHA-256 of the sealed bytes, as `sha256:` and hexadecimal digits.
    pub envelope_hash: String,
    /// Always `delivered`: the envelope is stored for its recipient.
    pub status: String,
    /// The key that sent the message.
    pub sender: ApiKeyId,
    /// The key that can open the envelope.
    pub recipient: ApiKeyId,
    /// The algorithms that seal the envelope.
    pub encryption: Encryption,
    /// Size of the sealed bytes, and the time of the sealing.
    pub metadata: Metadata,
}

/// An opened envelope with its message. Debug output omits the message.
#[derive(Clone, Serialize, Deserialize)]
pub struct OpenedEnvelope {
    /// Id of the envelope.
    pub envelope_id: EnvelopeId,
    /// SHA-256 of the sealed bytes, as `sha256:` and hexadecimal digits.
    pub envelope_hash: String,
    /// The key that sent the message.
    pub sender: ApiKeyId,
    /// The handle (unique readable name) of the sender. `None` if the sender has no handle.
    pub sender_handle: Option<String>,
    /// The opened message.
    pub message: String,
    /// The algorithms that seal the envelope.
    pub encryption: Encryption,
    /// Size of the sealed bytes, and the time of the sealing.
    pub metadata: Metadata,
    /// Time at which the envelope was first opened.
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

/// The algorithms that seal an envelope.
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
    /// Length of the sealed bytes, which is larger than the message.
    pub payload_size_bytes: u64,
    /// Time at which the message was sealed.
    pub timestamp: Timestamp,
}

/// The state of a sent envelope. The recipient's policy decides which times are shown.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Receipt {
    /// Id of the envelope.
    pub envelope_id: EnvelopeId,
    /// The key that can open the envelope.
    pub recipient: ApiKeyId,
    /// Time at which the envelope was sent.
    pub sent_at: Timestamp,
    /// The state of the envelope.
    pub state: ReceiptState,
    /// Time at which a webhook of the recipient accepted the event.
    pub notified_at: Option<Timestamp>,
    /// Time at which the envelope was first opened.
    pub opened_at: Option<Timestamp>,
}
