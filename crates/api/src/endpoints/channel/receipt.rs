//! `POST /v1/channel/receipt`: shows the state of an envelope to its sender.

use actix_web::web;
use sealpost_domain::{Code, TokenScope};
use sealpost_service::{Access, ProofFormat, Purpose, Receipt};
use serde_json::json;

use crate::{
    endpoint::Endpoint,
    openapi::{Operation, Tag},
    request::{KeyRequest, request_body},
    response::{LimitedResponse, ask_as_key},
    state::ApiState,
};

request_body! {
    struct ReceiptRequest {
        /// The `envelope_id` in the response to the send.
        #[schemars(length(min = 1))]
        envelope_id: String,
        /// If true, the response has a proof of the transparency log.
        #[schemars(with = "Option<bool>")]
        proof: bool,
        /// The form of the proof, `tlog` by default: a proof file (C2SP tlog-proof), or a COSE receipt (RFC 9942) in base64.
        proof_format: Option<ProofFormat>,
    }
}

async fn receipt(
    app: web::Data<ApiState>,
    request: KeyRequest<ReceiptRequest>,
) -> LimitedResponse<Receipt> {
    ask_as_key(&app, request, ACCESS, Purpose::Manage, async |sealpost, caller, body| {
        let proof = body.proof.then(|| body.proof_format.unwrap_or_default());
        sealpost.mailbox.receipt(caller, body.envelope_id, proof).await
    })
    .await
}

pub(in crate::endpoints) fn endpoint() -> Endpoint {
    let shown = json!({
        "envelope_id": "env_01m7ye92t9f5vargkky48cczpv",
        "recipient": "ak_01m7ye92k0ejgs32r4n1j3x7m3",
        "sent_at": "2026-11-21T06:56:38.729Z",
        "thread": null,
        "reply_to": null,
        "type": null,
        "state": "notified",
        "notified_at": "2026-11-21T06:56:38.751Z",
        "opened_at": null,
    });
    let body = json!({ "envelope_id": "env_01m7ye92t9f5vargkky48cczpv" });
    let proven = json!({ "envelope_id": "env_01m7ye92t9f5vargkky48cczpv", "proof": true });
    let operation = Operation::new::<Receipt>("getReceipt", shown)
        .describe(Tag::Channel, "Show the receipt of an envelope", DESCRIPTION)
        .repeatable()
        .session_and_key(ACCESS)
        .body::<ReceiptRequest>(vec![("Without a proof", body), ("With a proof", proven)])
        .refuses(&[Code::MissingField, Code::EnvelopeNotFound]);
    Endpoint { operation, route: web::route().to(receipt) }
}

const ACCESS: Access = Access::Scopes(&[TokenScope::Send]);

const DESCRIPTION: &str = "\
Shows the sender the context and the state of an envelope: `waiting` for a webhook of the recipient, `sent`, \
`notified`, `opened` or `bounced`.\n\n\
- Times that the recipient hides are null.\n\
- With `proof`, the response proves that the transparency log has the envelope.\n\
- An envelope of another sender gets the same response as an unknown or expired one.\n\
- The request counts against the limits per minute and per day.";
