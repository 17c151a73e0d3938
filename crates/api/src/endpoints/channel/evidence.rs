//! `POST /v1/channel/evidence`: proves to the sender or the recipient what happened to an envelope.

use actix_web::web;
use sealpost_domain::{Code, TokenScope};
use sealpost_service::{Access, EvidenceView, Purpose};
use serde_json::json;

use crate::{
    endpoint::Endpoint,
    openapi::{Operation, Tag},
    request::{KeyRequest, request_body},
    response::{LimitedResponse, ask_as_key},
    state::ApiState,
};

request_body! {
    struct EvidenceRequest {
        /// The id of an envelope that the key has sent or received.
        #[schemars(length(min = 1))]
        envelope_id: String,
    }
}

async fn evidence(
    app: web::Data<ApiState>,
    request: KeyRequest<EvidenceRequest>,
) -> LimitedResponse<EvidenceView> {
    ask_as_key(&app, request, ACCESS, Purpose::Manage, async |sealpost, caller, body| {
        sealpost.mailbox.evidence(caller, body.envelope_id).await
    })
    .await
}

pub(in crate::endpoints) fn endpoint() -> Endpoint {
    let proven = json!({
        "envelope_id": "env_01m7ye92t9f5vargkky48cczpv",
        "evidence": "sealpost-evidence/v1\nextra a2luZCBldmlkZW5jZQo=\nindex 17\n\nseal.example.org/log\n18\n3Ht6rKq0Jx3jv0Jx8oC3m0Qx5n3d0E6q2W5l0m7Z9aE=\n\n— seal.example.org/log mJ0nYw==\n",
        "cosigned": true,
    });
    let body = json!({ "envelope_id": "env_01m7ye92t9f5vargkky48cczpv" });
    let operation = Operation::new::<EvidenceView>("getEvidence", proven)
        .describe(Tag::Channel, "Prove what happened to an envelope", DESCRIPTION)
        .repeatable()
        .session_and_key(ACCESS)
        .body::<EvidenceRequest>(vec![("", body)])
        .refuses(&[Code::MissingField, Code::EnvelopeNotFound]);
    Endpoint { operation, route: web::route().to(evidence) }
}

const ACCESS: Access = Access::Scopes(&[TokenScope::Send, TokenScope::Open]);

const DESCRIPTION: &str = "\
Returns one file of at most 16 KiB for the sender or the recipient of an envelope. It has hash, both keys and \
their DIDs, the times of send, event and opening, and the newest badges, with the proofs of the transparency \
log.\n\n\
- `sealpost verify-proof` verifies the file without the network, also years later.\n\
- A sender sees what the receipt shows.\n\
- An API token needs the scope `send` for an envelope that its key sent, and `open` for one that its key received.\n\
- The DID and the badge of the other party are left out if its policy says `listed: false`.\n\
- Each request appends an entry to the log, and may take six seconds.\n\
- The request counts against the limits per minute and per day.";
