//! The input and the response of a send.

use schemars::JsonSchema;
use sealpost_domain::{
    ApiKeyId, Encryption, EnvelopeHash, EnvelopeId, EnvelopeMeta, IdempotencyKey, MessageType,
    Metadata, ReceiptState, ThreadId, TraceParent, ports::IdempotencyResult,
};
use serde::Serialize;
use zeroize::Zeroize as _;

/// A message and its recipient. The message is zeroized on drop.
pub struct NewMessage {
    /// The recipient: an API key, or its handle.
    pub to: String,
    /// The text to seal for the recipient.
    pub message: String,
    /// Thread and type of the message, and the envelope that the message replies to: signed, but not encrypted.
    pub context: SendContext,
    /// The distributed trace of the request. The requests to the recipient's webhooks continue this trace.
    pub trace: Option<TraceParent>,
    /// Identifies the request. A repeated request with the same key stores nothing and gets the first response again.
    pub idempotency_key: Option<IdempotencyKey>,
}

/// The context that a sender gives to a message.
#[derive(Debug, Clone, Default)]
pub struct SendContext {
    /// The thread of the message. A reply without a thread gets the thread of the envelope that it replies to.
    pub thread: Option<ThreadId>,
    /// The id of the envelope that the message replies to. The caller must have sent or received this envelope.
    pub reply_to: Option<String>,
    /// The type of the message.
    pub message_type: Option<MessageType>,
}

impl Drop for NewMessage {
    fn drop(&mut self) {
        self.message.zeroize();
    }
}

/// The response to a send. The envelope and its deliveries are stored.
#[derive(Debug, JsonSchema, Serialize)]
pub struct Sent {
    /// Always `delivered`: the envelope and its events are stored. `state` has the progress towards the recipient.
    #[schemars(extend("const" = "delivered"))]
    pub status: &'static str,
    /// The stored envelope.
    #[serde(flatten)]
    pub message: SentMessage,
    /// True if this is the response to an earlier request with the same idempotency key.
    #[serde(skip)]
    pub replayed: bool,
}

/// A sent message: its envelope, as the sender sees it.
#[derive(Debug, JsonSchema, Serialize)]
pub struct SentMessage {
    /// Id of the envelope.
    pub envelope_id: EnvelopeId,
    /// Hash of the sealed bytes.
    pub envelope_hash: EnvelopeHash,
    /// State of the envelope, in the words of its receipt: `sent`, or `waiting` if the recipient has no webhook for
    /// received envelopes.
    pub state: ReceiptState,
    /// The key of the sender.
    pub sender: ApiKeyId,
    /// The key of the recipient.
    pub recipient: ApiKeyId,
    /// The algorithm that sealed the envelope.
    pub encryption: Encryption,
    /// Size and time of the envelope.
    pub metadata: Metadata,
}

impl SentMessage {
    pub(super) fn new(meta: &EnvelopeMeta, state: ReceiptState) -> Self {
        Self {
            envelope_id: meta.id,
            envelope_hash: meta.hash,
            state,
            sender: meta.sender,
            recipient: meta.recipient,
            encryption: meta.encryption(),
            metadata: meta.metadata(),
        }
    }
}

impl Sent {
    pub(super) fn new(meta: &EnvelopeMeta, state: ReceiptState) -> Self {
        let message = SentMessage::new(meta, state);
        Self { status: "delivered", message, replayed: false }
    }

    /// Returns the response to an earlier send. `None` if the earlier request was a batch.
    pub(super) fn replayed(earlier: &IdempotencyResult<EnvelopeMeta>) -> Option<Self> {
        match earlier {
            IdempotencyResult::Batch(_) => None,
            IdempotencyResult::Send { envelope, state } => {
                Some(Self { replayed: true, ..Self::new(envelope, *state) })
            }
        }
    }
}
