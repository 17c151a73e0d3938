//! `POST /v1/channel/send`: encrypts a message for the recipient, and stores it as an envelope.

use actix_web::{HttpRequest, web};
use sealpost_domain::{
    Code, EnvelopeId, IdempotencyKey, MessageType, ThreadId, TokenScope, TraceParent,
};
use sealpost_service::{Access, NewMessage, Purpose, SendContext, Sent};
use serde_json::json;

use crate::{
    endpoint::Endpoint,
    openapi::{Operation, Tag},
    request::{KeyRequest, idempotency_key, request_body, trace_parent},
    response::{LimitedResponse, call_as_key, with_replay},
    state::ApiState,
};

request_body! {
    /// A message and its recipient.
    pub(super) struct SendRequest {
        /// The recipient: an API key, or a handle (the readable name of a key).
        #[schemars(length(min = 1))]
        to: String,
        /// The text of the message.
        #[schemars(length(min = 1))]
        message: String,
        /// The thread of the message, a name of your choice. It is signed, but not encrypted. A reply without a thread gets
        /// the thread of the envelope that it replies to.
        thread: Option<ThreadId>,
        /// The envelope that the message replies to. You must have sent or received it, and it must still be stored. It is
        /// signed, but not encrypted.
        #[schemars(with = "Option<EnvelopeId>")]
        reply_to: Option<String>,
        /// The type of the message, such as `text/plain` or `order.created`. It is signed, but not encrypted.
        r#type: Option<MessageType>,
    }
}

impl SendRequest {
    pub(super) fn into_send(
        self,
        idempotency_key: Option<IdempotencyKey>,
        trace: Option<TraceParent>,
    ) -> NewMessage {
        let Self { to, message, thread, reply_to, r#type: message_type } = self;
        NewMessage {
            to,
            message,
            context: SendContext { thread, reply_to, message_type },
            trace,
            idempotency_key,
        }
    }
}

async fn send(
    app: web::Data<ApiState>,
    http: HttpRequest,
    request: KeyRequest<SendRequest>,
) -> LimitedResponse<Sent> {
    let request = request
        .and_then(|body| Ok(body.into_send(idempotency_key(http.headers())?, trace_parent(&http))));
    let sent =
        call_as_key(&app, request, ACCESS, Purpose::Send, async |sealpost, caller, message| {
            sealpost.sending.send(caller, message).await
        });
    let sent = sent.await?;
    let is_replayed = sent.result.as_ref().is_ok_and(|sent| sent.replayed);
    with_replay(sent, is_replayed)
}

pub(in crate::endpoints) fn endpoint() -> Endpoint {
    let sent = json!({
        "envelope_id": "env_01m7ye92t9f5vargkky48cczpv",
        "envelope_hash": "sha256:ee7898977eef1c7398d2e117b9600d182af9fdee777bbc231b5c19fca6bce940",
        "status": "delivered",
        "state": "sent",
        "sender": "ak_01m7ye92jjfq1s4zr4gcymmdgn",
        "recipient": "ak_01m7ye92k0ejgs32r4n1j3x7m3",
        "encryption": { "algorithm": "HPKE-XWing-HKDF-SHA256-AES-256-GCM-Ed25519", "status": "sealed" },
        "metadata": { "payload_size_bytes": 1158, "timestamp": "2026-11-21T06:56:38.729Z" },
    });
    let operation = Operation::new::<Sent>("sendMessage", sent)
        .describe(Tag::Channel, "Send a sealed message", DESCRIPTION)
        .session_and_key(ACCESS)
        .idempotent()
        .body::<SendRequest>(vec![
            ("To a handle", json!({ "to": "bob", "message": "Meet me at noon." })),
            (
                "To an API key",
                json!({ "to": "ak_01m7ye92k0ejgs32r4n1j3x7m3", "message": "Meet me at noon." }),
            ),
            (
                "A reply in its thread",
                json!({
                    "to": "bob",
                    "message": "Noon is fine.",
                    "reply_to": "env_01m7ye92t9f5vargkky48cczpv",
                    "type": "text/plain",
                }),
            ),
        ])
        .links(json!({ "open": {
            "operationId": "openEnvelope",
            "description": "The recipient opens the envelope.",
            "requestBody": { "envelope_id": "$response.body#/envelope_id" },
        } }))
        .refuses(&[
            Code::MissingField,
            Code::RawDidRejected,
            Code::GovernanceBlocked,
            Code::RecipientRefuses,
            Code::QuotaExceeded,
            Code::EnvelopeNotFound,
            Code::IdempotencyKeyReused,
            Code::MonthlyLimitExceeded,
        ]);
    Endpoint { operation, route: web::route().to(send) }
}

const ACCESS: Access = Access::Scopes(&[TokenScope::Send]);

const DESCRIPTION: &str = "\
Seals the message to the recipient, signs it as the sender, and stores the envelope with its webhook deliveries. \
200 means that both are durable and survive a crash.\n\n\
- `to` is an API key or a handle, with or without a leading `@`. A raw DID is refused.\n\
- `state` is `waiting` if the recipient has no webhook for received envelopes, and otherwise `sent`. A recipient \
can hide it.\n\
- `thread`, `reply_to` and `type` are signed, but not encrypted.\n\
- A message has at most 256 KiB by default.\n\
- Send an `Idempotency-Key` with each message that must not be sent twice.\n\
- The requests to the recipient's webhooks continue the trace of a `traceparent` header. An invalid one is \
ignored.";
