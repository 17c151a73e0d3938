//! `POST /v1/channel/send-batch`: encrypts many messages, and stores them in one commit.

use std::collections::BTreeMap;

use actix_web::{HttpRequest, web};
use schemars::JsonSchema;
use sealpost_domain::{Code, Refusal, TokenScope};
use sealpost_service::{
    Access, BatchIdempotency, BatchResult, Purpose, RefusedMessage, SendBatch, SentMessage,
};
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::send::SendRequest;
use crate::{
    endpoint::Endpoint,
    openapi::{Operation, Tag},
    request::{Fields, KeyRequest, idempotency_key, invalid, request_body, trace_parent},
    response::{LimitedResponse, call_as_key, status_and_title, with_replay},
    state::ApiState,
};

request_body! {
    /// The messages of a batch.
    struct SendBatchRequest {
        /// The messages, each with the members of a send except `api_key_id`.
        #[schemars(with = "Vec<SendRequest>", length(min = 1, max = 100))]
        messages: Vec<Value> => refuse_too_many(&messages),
    }
}

fn refuse_too_many(messages: &[Value]) -> Result<(), Refusal> {
    if messages.len() > MESSAGES_MAX {
        return Err(invalid("messages", format!("must have at most {MESSAGES_MAX} messages")));
    }
    Ok(())
}

impl SendBatchRequest {
    fn into_batch(self, http: &HttpRequest) -> Result<SendBatch, Refusal> {
        let idempotency = match idempotency_key(http.headers())? {
            None => None,
            Some(key) => Some(BatchIdempotency { key, content: fingerprinted(&self.messages)? }),
        };
        let trace = trace_parent(http);
        let send = |message: Value| match message {
            Value::Object(members) => {
                let body = Fields::from(members).into_body_without_key::<SendRequest>()?;
                Ok(body.into_send(None, trace))
            }
            _ => Err(invalid("messages", "must contain objects with the members of a send")),
        };
        Ok(SendBatch { messages: self.messages.into_iter().map(send).collect(), idempotency })
    }
}

/// Serializes the messages for the comparison with an earlier batch that has the same idempotency key. Sorts the
/// members of each message and omits null members, because neither the order nor null members matter.
fn fingerprinted(messages: &[Value]) -> Result<Vec<u8>, Refusal> {
    let present = |message: &Value| match message {
        Value::Object(members) => {
            let present = members.iter().filter(|(_, value)| !value.is_null());
            json!(present.collect::<BTreeMap<_, _>>())
        }
        other => other.clone(),
    };
    let messages: Vec<_> = messages.iter().map(present).collect();
    serde_json::to_vec(&messages).or(Err(Refusal::InvalidJson))
}

/// The response to a batch.
#[derive(JsonSchema, Serialize)]
struct SendBatchResponse {
    /// The result of each message, in the order of the messages.
    results: Vec<MessageResult>,
}

/// The result of one message of a batch.
#[derive(JsonSchema, Serialize)]
#[serde(untagged)]
enum MessageResult {
    /// The envelope is stored.
    Sent {
        /// Always 200.
        #[schemars(extend("const" = 200))]
        status: u16,
        /// The members of the response to a send.
        #[serde(flatten)]
        #[schemars(with = "SentMessage")]
        message: Map<String, Value>,
    },
    /// The message was refused. Nothing was stored.
    Refused {
        /// The HTTP status that the message would get as a send of its own.
        #[schemars(range(min = 400, max = 499))]
        status: u16,
        /// The error code.
        code: Code,
        /// Describes the error and a remedy.
        detail: String,
        /// The member of the message that caused the error; null if no single member caused it.
        field: Option<String>,
    },
}

impl From<BatchResult> for MessageResult {
    fn from(result: BatchResult) -> Self {
        match result {
            BatchResult::Sent(message) => Self::Sent { status: 200, message },
            BatchResult::Refused(RefusedMessage { code, detail, field }) => {
                let status = status_and_title(code).0.as_u16();
                Self::Refused { status, code, detail, field }
            }
        }
    }
}

async fn send_batch(
    app: web::Data<ApiState>,
    http: HttpRequest,
    request: KeyRequest<SendBatchRequest>,
) -> LimitedResponse<SendBatchResponse> {
    let request = request.and_then(|body| body.into_batch(&http));
    let sent =
        call_as_key(&app, request, ACCESS, Purpose::Send, async |sealpost, caller, batch| {
            sealpost.sending.send_batch(caller, batch).await
        });
    let sent = sent.await?;
    let is_replayed = sent.result.as_ref().is_ok_and(|sent| sent.replayed);
    let response = sent.map(|sent| SendBatchResponse {
        results: sent.results.into_iter().map(MessageResult::from).collect(),
    });
    with_replay(response, is_replayed)
}

pub(in crate::endpoints) fn endpoint() -> Endpoint {
    let results = json!({ "results": [
        {
            "status": 200,
            "envelope_id": "env_01m7ye92t9f5vargkky48cczpv",
            "envelope_hash": "sha256:ee7898977eef1c7398d2e117b9600d182af9fdee777bbc231b5c19fca6bce940",
            "state": "sent",
            "sender": "ak_01m7ye92jjfq1s4zr4gcymmdgn",
            "recipient": "ak_01m7ye92k0ejgs32r4n1j3x7m3",
            "encryption": { "algorithm": "HPKE-XWing-HKDF-SHA256-AES-256-GCM-Ed25519", "status": "sealed" },
            "metadata": { "payload_size_bytes": 1158, "timestamp": "2026-11-21T06:56:38.729Z" },
        },
        {
            "status": 404,
            "code": "KEY_NOT_FOUND",
            "detail": "no API key or handle has this name; ask the recipient for its API key or handle",
            "field": "to",
        },
    ] });
    let body = json!({ "messages": [
        { "to": "bob", "message": "Meet me at noon.", "thread": "order:7" },
        { "to": "carol", "message": "Meet me at noon." },
    ] });
    let operation = Operation::new::<SendBatchResponse>("sendMessages", results)
        .describe(Tag::Channel, "Send many sealed messages", DESCRIPTION)
        .session_and_key(ACCESS)
        .idempotent()
        .body::<SendBatchRequest>(vec![("", body)])
        .refuses(&[Code::MissingField, Code::GovernanceBlocked, Code::IdempotencyKeyReused]);
    Endpoint { operation, route: web::route().to(send_batch) }
}

const ACCESS: Access = Access::Scopes(&[TokenScope::Send]);

const DESCRIPTION: &str = "\
Sends up to 100 messages in one request, and stores all accepted messages in one commit. The response has a \
result for each message, in the order of the messages: the members of a send, or the status, the code and the \
detail of its refusal.\n\n\
- Each message is checked, limited and counted like a send of its own, as if the messages were sent one after \
the other.\n\
- The request counts as one request for each message, except messages that get 429.\n\
- If a limit has room for some messages only, the first ones are accepted. If the limit per minute or day does not \
admit even the first message, the whole request is refused.\n\
- Envelopes to one recipient keep the order of the messages in their ids.\n\
- An `Idempotency-Key` covers the whole batch: a repeated request gets the same results, and stores nothing. \
Send refused messages again under another key.";

/// Maximum number of messages in a batch.
const MESSAGES_MAX: usize = 100;
