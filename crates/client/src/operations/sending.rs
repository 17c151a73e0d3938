//! Sends messages, one at a time and in batches.

use std::fmt;

use sealpost_domain::{ApiKeyId, EnvelopeId, IdempotencyKey, ReceiptState, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::{
    client::Client,
    error::ClientError,
    request::{ApiRequest, random_idempotency_key},
};

impl Client {
    /// Sends a message to an API key or a handle. Retries use the same random `Idempotency-Key`, so the message is sent
    /// once.
    pub async fn send(&self, to: &str, message: &str) -> Result<SentEnvelope, ClientError> {
        self.send_message(&Message::new(to, message), None).await
    }

    /// Sends a message with an `Idempotency-Key` of the caller. To retry safely after a restart of the program, store
    /// the `Idempotency-Key` together with the message.
    pub async fn send_once(
        &self,
        to: &str,
        message: &str,
        idempotency_key: &IdempotencyKey,
    ) -> Result<SentEnvelope, ClientError> {
        self.send_message(&Message::new(to, message), Some(idempotency_key)).await
    }

    /// Sends a message with its context: the thread, the type, and the envelope that the message replies to. If
    /// `idempotency_key` is `None`, the client chooses a random one, and all retries use it.
    pub async fn send_message(
        &self,
        message: &Message,
        idempotency_key: Option<&IdempotencyKey>,
    ) -> Result<SentEnvelope, ClientError> {
        let request = keyed(ApiRequest::post("/v1/channel/send", message)?, idempotency_key)?;
        self.transport.call(&request).await
    }

    /// Sends up to 100 messages in one request. Returns the result of each message, in the order of the messages. If
    /// `idempotency_key` is `None`, the client chooses a random one, and all retries use it.
    pub async fn send_batch(
        &self,
        messages: &[Message],
        idempotency_key: Option<&IdempotencyKey>,
    ) -> Result<Vec<MessageResult>, ClientError> {
        let body = json!({ "messages": messages });
        let request = keyed(ApiRequest::post("/v1/channel/send-batch", &body)?, idempotency_key)?;
        Ok(self.transport.call::<BatchResults>(&request).await?.results)
    }
}

fn keyed(request: ApiRequest, key: Option<&IdempotencyKey>) -> Result<ApiRequest, ClientError> {
    let key = match key {
        Some(key) => key.as_str().to_owned(),
        None => random_idempotency_key()?,
    };
    Ok(ApiRequest { idempotency_key: Some(key), ..request })
}

/// A message to send, with its context. The context is signed, but not encrypted. Debug output omits the message.
#[derive(Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Message {
    /// The recipient: an API key or a handle.
    pub to: String,
    /// The text of the message.
    pub message: String,
    /// The thread of the message: a name of 1 to 64 characters of `A-Z a-z 0-9 . _ : -`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thread: Option<String>,
    /// The envelope that the message replies to. This API key must have sent or received it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reply_to: Option<EnvelopeId>,
    /// The type of the message, such as `text/plain`: 1 to 64 characters of `a-z 0-9 . _ / + -`.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
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
    /// 200 if the envelope is stored. Otherwise the error status that the message would get if it were sent alone.
    pub status: u16,
    /// Id of the stored envelope. `None` if the message was refused.
    pub envelope_id: Option<EnvelopeId>,
    /// The state of the stored envelope. `None` if the message was refused.
    #[serde(default, deserialize_with = "super::state")]
    pub state: Option<ReceiptState>,
    /// The error code. `None` if the envelope is stored.
    pub code: Option<String>,
    /// The problem of the message, and its fix. `None` if the envelope is stored.
    pub detail: Option<String>,
    /// The member of the message that caused the error. `None` if no single member caused it.
    pub field: Option<String>,
}

#[derive(Deserialize)]
struct BatchResults {
    results: Vec<MessageResult>,
}

/// A stored envelope.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct SentEnvelope {
    /// Id of the envelope.
    pub envelope_id: EnvelopeId,
    /// SHA-256 of the sealed bytes, as `sha256:` and hexadecimal digits.
    pub envelope_hash: String,
    /// Always `delivered`: the envelope and its events are stored. The field `state` contains the progress towards the
    /// recipient.
    pub status: String,
    /// The state of the envelope, as its receipt shows it.
    #[serde(deserialize_with = "super::state")]
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
