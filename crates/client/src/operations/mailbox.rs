//! Operations on stored envelopes. The recipient opens an envelope, and the sender lists envelopes and reads receipts.
//! Both can get evidence.

use std::fmt;

use sealpost_domain::{ApiKeyId, EnvelopeId, ReceiptState, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::{
    client::Client,
    error::ClientError,
    operations::{Encryption, Metadata},
    pages::{Pages, pages},
};

impl Client {
    /// Opens an envelope for the API key of this client.
    pub async fn open(&self, envelope_id: EnvelopeId) -> Result<OpenedEnvelope, ClientError> {
        self.transport.post("/v1/channel/open", &json!({"envelope_id": envelope_id})).await
    }

    /// Returns the state of an envelope that this API key sent.
    pub async fn receipt(&self, envelope_id: EnvelopeId) -> Result<Receipt, ClientError> {
        self.transport.post("/v1/channel/receipt", &json!({"envelope_id": envelope_id})).await
    }

    /// Returns a file that proves the history of an envelope, such as its sending and its opening. This API key must
    /// have sent or received the envelope. Takes up to six seconds, and appends an entry to the transparency log.
    pub async fn evidence(&self, envelope_id: EnvelopeId) -> Result<Evidence, ClientError> {
        self.transport.post("/v1/channel/evidence", &json!({"envelope_id": envelope_id})).await
    }

    /// Returns the envelopes that this API key sent, newest first, with their states. Loads up to `page_size` envelopes
    /// per request.
    pub fn sent(&self, filter: &SentFilter, page_size: u32) -> Pages<ListedEnvelope> {
        let SentFilter { recipient, thread, since, until } = filter;
        let body = json!({
            "recipient": recipient,
            "thread": thread,
            "since": since,
            "until": until,
            "limit": page_size,
        });
        pages(&self.transport, "/v1/channel/list", body)
    }
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
    #[serde(deserialize_with = "super::state")]
    pub state: ReceiptState,
    /// Time at which a webhook of the recipient accepted the event. `None` before that, or if the recipient hides the
    /// time.
    pub notified_at: Option<Timestamp>,
    /// Time at which the envelope was first opened. `None` before that, or if the recipient hides the time.
    pub opened_at: Option<Timestamp>,
}

/// Evidence about an envelope: a file that can be verified without the service.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Evidence {
    /// Id of the envelope.
    pub envelope_id: EnvelopeId,
    /// The text of the evidence file. The command `sealpost verify-proof` verifies this file.
    pub evidence: String,
    /// True if a witness (an independent observer of the transparency log) has cosigned the checkpoint in the file. A
    /// checkpoint is the size and the root hash of the log.
    pub cosigned: bool,
}

/// Selects sent envelopes. The default selects all.
#[derive(Debug, Clone, Default)]
pub struct SentFilter {
    /// The recipient: an API key or a handle.
    pub recipient: Option<String>,
    /// The thread of the messages.
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
    #[serde(deserialize_with = "super::state")]
    pub state: ReceiptState,
    /// The thread of the message, if the sender gave one.
    pub thread: Option<String>,
    /// The envelope that the message replies to. `None` if the message is no reply.
    pub reply_to: Option<EnvelopeId>,
    /// The type of the message, if the sender gave one.
    #[serde(rename = "type")]
    pub message_type: Option<String>,
}
