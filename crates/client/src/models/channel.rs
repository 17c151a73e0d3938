//! Bodies of the operations of envelopes.

use std::fmt;

use sealpost_domain::{ApiKeyId, EnvelopeId, ReceiptState, Timestamp};
use serde::{Deserialize, Serialize};

/// A message to send, with its context. The context is signed, but not encrypted. Debug output omits the message.
#[derive(Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Message {
    /// The recipient: an API key or a handle.
    pub to: String,
    /// The text of the message.
    pub message: String,
    /// The thread of the message: a name of 1 to 64 of `A-Z a-z 0-9 . _ : -`.
    pub thread: Option<String>,
    /// The envelope that the message replies to. This API key must have sent or received it.
    pub reply_to: Option<EnvelopeId>,
    /// The type of the message, such as `text/plain`: 1 to 64 of `a-z 0-9 . _ / + -`.
    #[serde(rename = "type")]
    pub message_type: Option<String>,
}

impl Message {
    /// Creates a message without context.
    pub fn new(to: impl Into<String>, message: impl Into<String>) -> Self {
        Self { to: to.into(), message: message.into(), ..Self::default() }
    }
}

impl fmt::Debug for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Message").field("to", &self.to).finish_non_exhaustive()
    }
}

/// The result of one message of a batch.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct MessageResult {
    /// 200 if the envelope is stored. Otherwise the HTTP status that the message would get as a send of its own.
    pub status: u16,
    /// Id of the stored envelope. `None` if the message was refused.
    pub envelope_id: Option<EnvelopeId>,
    /// The state of the stored envelope. `None` if the message was refused.
    pub state: Option<ReceiptState>,
    /// The error code. `None` if the envelope is stored.
    pub code: Option<String>,
    /// Describes the error and a remedy. `None` if the envelope is stored.
    pub detail: Option<String>,
    /// The member of the message that caused the error. `None` if no single member caused it.
    pub field: Option<String>,
}

/// Selects sent envelopes. The default selects all.
#[derive(Debug, Clone, Default)]
pub struct SentFilter {
    /// An API key or a handle.
    pub recipient: Option<String>,
    /// A thread.
    pub thread: Option<String>,
    /// Start of the time range, inclusive.
    pub since: Option<Timestamp>,
    /// End of the time range, exclusive.
    pub until: Option<Timestamp>,
}

/// A sent envelope in a list.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ListedEnvelope {
    /// Id of the envelope.
    pub envelope_id: EnvelopeId,
    /// The key that can open the envelope.
    pub recipient: ApiKeyId,
    /// Time at which the envelope was sent.
    pub sent_at: Timestamp,
    /// The state of the envelope.
    pub state: ReceiptState,
    /// The thread of the message, if the sender gave one.
    pub thread: Option<String>,
    /// The envelope that the message replies to. `None` if the message is no reply.
    pub reply_to: Option<EnvelopeId>,
    /// The type of the message, if the sender gave one.
    #[serde(rename = "type")]
    pub message_type: Option<String>,
}

/// A stored envelope.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct SentEnvelope {
    /// Id of the envelope.
    pub envelope_id: EnvelopeId,
    /// SHA-256 of the sealed bytes, as `sha256:` and hexadecimal digits.
    pub envelope_hash: String,
    /// Always `delivered`: the envelope and its events are stored. `state` has the progress towards the recipient.
    pub status: String,
    /// The state of the envelope, as its receipt shows it.
    pub state: ReceiptState,
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
    /// The thread of the message, if the sender gave one.
    pub thread: Option<String>,
    /// The envelope that the message replies to. `None` if the message is no reply.
    pub reply_to: Option<EnvelopeId>,
    /// The type of the message, if the sender gave one.
    #[serde(rename = "type")]
    pub message_type: Option<String>,
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

/// Evidence about an envelope.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Evidence {
    /// Id of the envelope.
    pub envelope_id: EnvelopeId,
    /// The file, for `sealpost verify-proof`.
    pub evidence: String,
    /// True if a witness has cosigned the checkpoint.
    pub cosigned: bool,
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
    /// The thread of the message, if the sender gave one.
    pub thread: Option<String>,
    /// The envelope that the message replies to. `None` if the message is no reply.
    pub reply_to: Option<EnvelopeId>,
    /// The type of the message, if the sender gave one.
    #[serde(rename = "type")]
    pub message_type: Option<String>,
    /// The state of the envelope.
    pub state: ReceiptState,
    /// Time at which a webhook of the recipient accepted the event.
    pub notified_at: Option<Timestamp>,
    /// Time at which the envelope was first opened.
    pub opened_at: Option<Timestamp>,
}
