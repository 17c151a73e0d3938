//! Events and their JSON bodies for webhook requests. An event contains metadata, and never the text of a message.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;

use crate::{
    ApiKeyId, EnvelopeHash, EnvelopeId, EnvelopeMeta, EventId, EventKind, EventsVersion, Handle,
    MessageContext, StoredEvent, Timestamp,
};

/// An event, such as the arrival of an envelope. It is delivered to each webhook that subscribes to its kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// An envelope for the webhook's key was stored. The event is built from the metadata of the envelope, and is not
    /// stored.
    EnvelopeReceived(Arc<ReceivedEnvelope>),
    /// An event of any other kind, stored with its JSON body.
    Stored(Arc<StoredEvent>),
}

/// A stored envelope with its sender.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReceivedEnvelope {
    /// Metadata of the envelope.
    pub meta: EnvelopeMeta,
    /// The handle of the sender's API key. `None` if the key has no handle.
    pub sender_handle: Option<Handle>,
}

impl Event {
    /// Creates the event of a stored envelope.
    pub fn received(meta: EnvelopeMeta, sender_handle: Option<Handle>) -> Self {
        Self::EnvelopeReceived(Arc::new(ReceivedEnvelope { meta, sender_handle }))
    }

    /// Returns the id of the event, the same in all its deliveries and attempts.
    pub fn id(&self) -> EventId {
        match self {
            Self::EnvelopeReceived(received) => EventId::Envelope(received.meta.id),
            Self::Stored(event) => EventId::Own(event.id),
        }
    }

    /// Returns the time of the event. The first attempt of its deliveries is due at this time.
    pub fn timestamp(&self) -> Timestamp {
        match self {
            Self::EnvelopeReceived(received) => received.meta.timestamp,
            Self::Stored(event) => event.created_at,
        }
    }

    /// Builds the JSON body of the webhook request, in the format of this version of the events.
    pub fn body(&self, version: EventsVersion) -> Result<Vec<u8>, serde_json::Error> {
        match self {
            Self::EnvelopeReceived(received) => {
                serde_json::to_vec(&EnvelopeReceived::new(received, version))
            }
            Self::Stored(event) => Ok(event.body.clone().into_bytes()),
        }
    }
}

/// The JSON body of the event `envelope.received`. The order of the fields is part of the API contract.
#[derive(Debug, JsonSchema, Serialize)]
pub struct EnvelopeReceived {
    /// Name of the event: `envelope.received`.
    event: EventKind,
    /// Id of the envelope. The recipient opens the envelope by this id.
    envelope_id: EnvelopeId,
    /// SHA-256 over the sealed bytes of the envelope.
    envelope_hash: EnvelopeHash,
    /// The API key of the sender.
    sender: ApiKeyId,
    /// The handle of the sender; null if the sender has no handle. Only events of version v1.1 (server setting
    /// `--events`) contain this field.
    #[serde(skip_serializing_if = "Option::is_none")]
    sender_handle: Option<SenderHandle>,
    /// Thread and type of the message, and the envelope that it replies to. Only events of version v1.1 contain these
    /// fields.
    #[serde(flatten)]
    context: Option<MessageContext>,
    /// Algorithm and state of the encryption.
    encryption: Encryption,
    /// Size of the envelope, and time of its sealing.
    metadata: Metadata,
}

/// The member `sender_handle`, which can be null.
#[derive(Debug, JsonSchema, Serialize)]
#[serde(transparent)]
struct SenderHandle(Option<Handle>);

/// The encryption of an envelope.
#[derive(Debug, JsonSchema, Serialize)]
pub struct Encryption {
    /// Name of the sealing suite: a combination of cryptographic algorithms.
    pub algorithm: &'static str,
    /// Always `sealed`.
    #[schemars(extend("const" = "sealed"))]
    pub status: &'static str,
}

/// Size of an envelope, and time of its sealing.
#[derive(Debug, JsonSchema, Serialize)]
pub struct Metadata {
    /// Length of the sealed bytes.
    pub payload_size_bytes: u64,
    /// Time of sealing.
    pub timestamp: Timestamp,
}

impl EnvelopeMeta {
    /// Builds the `encryption` object of responses and events.
    pub fn encryption(&self) -> Encryption {
        Encryption { algorithm: self.suite.algorithm(), status: "sealed" }
    }

    /// Builds the `metadata` object of responses and events.
    pub fn metadata(&self) -> Metadata {
        Metadata { payload_size_bytes: self.payload_size_bytes, timestamp: self.timestamp }
    }
}

impl EnvelopeReceived {
    fn new(received: &ReceivedEnvelope, version: EventsVersion) -> Self {
        let ReceivedEnvelope { meta, sender_handle } = received;
        let (sender_handle, context) = match version {
            EventsVersion::V1_0 => (None, None),
            EventsVersion::V1_1 => {
                (Some(SenderHandle(sender_handle.clone())), Some(meta.context.clone()))
            }
        };
        Self {
            event: EventKind::EnvelopeReceived,
            envelope_id: meta.id,
            envelope_hash: meta.hash,
            sender: meta.sender,
            sender_handle,
            context,
            encryption: meta.encryption(),
            metadata: meta.metadata(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn payload(sender_handle: Option<&str>, version: EventsVersion) -> String {
        let id = "env_01h455vb4pex5vsknk084sn02q".parse().unwrap();
        let sender = "ak_01h455vb4pex5vsknk084sn02q".parse().unwrap();
        let meta = EnvelopeMeta {
            hash: EnvelopeHash([0xab; 32]),
            payload_size_bytes: 1234,
            timestamp: Timestamp::from_millis(1_767_225_600_007),
            ..EnvelopeMeta::example(id, sender, sender)
        };
        let event = Event::received(meta, sender_handle.map(|it| Handle::parse(it).unwrap()));
        assert_eq!(event.id().to_string(), "env_01h455vb4pex5vsknk084sn02q");
        String::from_utf8(event.body(version).unwrap()).unwrap()
    }

    /// Returns the JSON of the example in the API contract, with `added` inserted after the member `sender`.
    fn expected(added: &str) -> String {
        format!(
            concat!(
                r#"{{"event":"envelope.received","envelope_id":"env_01h455vb4pex5vsknk084sn02q","#,
                r#""envelope_hash":"sha256:{}","sender":"ak_01h455vb4pex5vsknk084sn02q",{}"#,
                r#""encryption":{{"algorithm":"HPKE-XWing-HKDF-SHA256-AES-256-GCM-Ed25519","status":"sealed"}},"#,
                r#""metadata":{{"payload_size_bytes":1234,"timestamp":"2026-01-01T00:00:00.007Z"}}}}"#
            ),
            "ab".repeat(32),
            added
        )
    }

    #[test]
    fn the_payload_of_v1_0_has_exactly_the_fields_of_the_contract() {
        for handle in [None, Some("alice")] {
            assert_eq!(payload(handle, EventsVersion::V1_0), expected(""));
        }
    }

    #[test]
    fn the_payload_of_v1_1_has_the_handle_of_the_sender_and_the_context() {
        let none = r#""thread":null,"reply_to":null,"type":null,"#;
        for (handle, member) in [(Some("alice"), r#""alice""#), (None, "null")] {
            let added = format!(r#""sender_handle":{member},{none}"#);
            assert_eq!(payload(handle, EventsVersion::V1_1), expected(&added));
        }
    }
}
