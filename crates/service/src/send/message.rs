//! The input and the response of a send.

use schemars::JsonSchema;
use sealpost_domain::{
    ApiKeyId, Encryption, EnvelopeHash, EnvelopeId, EnvelopeMeta, IdempotencyKey, Metadata,
};
use serde::Serialize;
use zeroize::Zeroize as _;

/// A message and its recipient. The message is zeroized on drop.
pub struct Send {
    /// The recipient: an API key, or a handle (the readable name of a key).
    pub to: String,
    /// The text to seal for the recipient.
    pub message: String,
    /// Identifies the request. A repeated request with the same key stores nothing and gets the first response again.
    pub idempotency_key: Option<IdempotencyKey>,
}

impl Drop for Send {
    fn drop(&mut self) {
        self.message.zeroize();
    }
}

/// The response to a send. The envelope and its deliveries are stored.
#[derive(Debug, JsonSchema, Serialize)]
pub struct Sent {
    /// Id of the envelope.
    pub envelope_id: EnvelopeId,
    /// Hash of the sealed bytes.
    pub envelope_hash: EnvelopeHash,
    /// Always `delivered`.
    #[schemars(extend("const" = "delivered"))]
    pub status: &'static str,
    /// The key of the sender.
    pub sender: ApiKeyId,
    /// The key of the recipient.
    pub recipient: ApiKeyId,
    /// The algorithm that sealed the envelope.
    pub encryption: Encryption,
    /// Size and time of the envelope.
    pub metadata: Metadata,
    /// True if this is the response to an earlier request with the same idempotency key.
    #[serde(skip)]
    pub replayed: bool,
}

impl From<&EnvelopeMeta> for Sent {
    fn from(meta: &EnvelopeMeta) -> Self {
        Self {
            envelope_id: meta.id,
            envelope_hash: meta.hash,
            status: "delivered",
            sender: meta.sender,
            recipient: meta.recipient,
            encryption: meta.encryption(),
            metadata: meta.metadata(),
            replayed: false,
        }
    }
}
