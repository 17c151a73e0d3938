//! `POST /v1/channel/open`: decrypts an envelope for its recipient and returns the message.

use actix_web::web;
use sealpost_domain::{Code, TokenScope};
use sealpost_service::{Access, Opened, ProofFormat, Purpose};
use serde_json::json;

use crate::{
    endpoint::Endpoint,
    openapi::{Operation, Tag},
    request::{KeyRequest, request_body},
    response::{LimitedResponse, ask_as_key},
    state::ApiState,
};

request_body! {
    struct OpenRequest {
        /// The id of the envelope, from the event that announced it.
        #[schemars(length(min = 1))]
        envelope_id: String,
        /// If true, the response has a proof of the transparency log.
        #[schemars(with = "Option<bool>")]
        proof: bool,
        /// The form of the proof, `tlog` by default: a proof file (C2SP tlog-proof), or a COSE receipt (RFC 9942) in base64.
        proof_format: Option<ProofFormat>,
    }
}

async fn open(
    app: web::Data<ApiState>,
    request: KeyRequest<OpenRequest>,
) -> LimitedResponse<Opened> {
    ask_as_key(&app, request, ACCESS, Purpose::Execute, async |sealpost, caller, body| {
        let proof = body.proof.then(|| body.proof_format.unwrap_or_default());
        sealpost.mailbox.open(caller, body.envelope_id, proof).await
    })
    .await
}

pub(in crate::endpoints) fn endpoint() -> Endpoint {
    let opened = json!({
        "envelope_id": "env_01m7ye92t9f5vargkky48cczpv",
        "envelope_hash": "sha256:ee7898977eef1c7398d2e117b9600d182af9fdee777bbc231b5c19fca6bce940",
        "sender": "ak_01m7ye92jjfq1s4zr4gcymmdgn",
        "sender_handle": "alice",
        "message": "Meet me at noon.",
        "thread": null,
        "reply_to": null,
        "type": null,
        "encryption": { "algorithm": "HPKE-XWing-HKDF-SHA256-AES-256-GCM-Ed25519", "status": "sealed" },
        "metadata": { "payload_size_bytes": 1158, "timestamp": "2026-11-21T06:56:38.729Z" },
        "opened_at": "2026-11-21T06:56:38.786Z",
    });
    let body = json!({ "envelope_id": "env_01m7ye92t9f5vargkky48cczpv" });
    let proven = json!({ "envelope_id": "env_01m7ye92t9f5vargkky48cczpv", "proof": true });
    let operation = Operation::new::<Opened>("openEnvelope", opened)
        .describe(Tag::Channel, "Open an envelope", DESCRIPTION)
        .repeatable()
        .session_and_key(ACCESS)
        .body::<OpenRequest>(vec![("Without a proof", body), ("With a proof", proven)])
        .refuses(&[Code::MissingField, Code::GovernanceBlocked, Code::EnvelopeNotFound]);
    Endpoint { operation, route: web::route().to(open) }
}

const ACCESS: Access = Access::Scopes(&[TokenScope::Open]);

const DESCRIPTION: &str = "\
Verifies hash and signature of the envelope, and returns the message to the recipient. There is no inbox: the id \
comes with the webhook event.\n\n\
- An envelope can be opened many times while it is kept, 30 days by default. `opened_at` is the first time.\n\
- With `proof`, the response proves that the transparency log has the envelope.\n\
- An envelope for another key gets the same response as an unknown envelope.";
