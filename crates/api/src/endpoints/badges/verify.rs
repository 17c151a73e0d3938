//! `POST /v1/badges/verify`: checks that a credential is a valid badge of this service, neither expired nor revoked.

use actix_web::web;
use sealpost_domain::Code;
use sealpost_service::{Access, BadgeVerified, ProofFormat, Purpose};
use serde_json::json;

use crate::{
    endpoint::Endpoint,
    openapi::{Operation, Tag},
    request::{KeyRequest, request_body},
    response::{LimitedResponse, ask_as_key},
    state::ApiState,
};

request_body! {
    struct VerifyRequest {
        /// The badge as a JWT.
        #[schemars(length(min = 1))]
        credential: String,
        /// If true, the response has a proof of the transparency log.
        #[schemars(with = "Option<bool>")]
        proof: bool,
        /// The form of the proof, `tlog` by default: a proof file (C2SP tlog-proof), or a COSE receipt (RFC 9942) in base64.
        proof_format: Option<ProofFormat>,
    }
}

async fn verify(
    app: web::Data<ApiState>,
    request: KeyRequest<VerifyRequest>,
) -> LimitedResponse<BadgeVerified> {
    ask_as_key(&app, request, ACCESS, Purpose::Manage, async |sealpost, caller, body| {
        let proof = body.proof.then(|| body.proof_format.unwrap_or_default());
        sealpost.badges.verify(caller, body.credential, proof).await
    })
    .await
}

pub(in crate::endpoints) fn endpoint() -> Endpoint {
    let valid = json!({
        "valid": true,
        "status": "valid",
        "badge_id": "bdg_01m7ye92v3e6n8d9ywq7j0x1rk",
        "subject": "urn:sealpost:ak_01m7ye92k0ejgs32r4n1j3x7m3",
        "issued_at": "2026-11-21T06:56:38.000Z",
        "expires_at": "2027-02-19T06:56:38.000Z",
        "revoked_at": null,
    });
    let invalid = json!({
        "valid": false,
        "status": "invalid",
        "badge_id": null,
        "subject": null,
        "issued_at": null,
        "expires_at": null,
        "revoked_at": null,
    });
    let body = json!({ "credential": "eyJhbGciOiJFZERTQSIsImN0eSI6InZjIiwidHlwIjoidmMrand0In0.eyJpc3MiOiJkaWQ6d2ViOnNlYWwuZXhhbXBsZS5vcmcifQ.c2lnbmF0dXJl" });
    let operation = Operation::new::<BadgeVerified>("verifyBadge", valid)
        .or_responds("not a badge of this service", invalid)
        .describe(Tag::Badges, "Verify a badge", DESCRIPTION)
        .repeatable()
        .session_and_key(ACCESS)
        .body::<VerifyRequest>(vec![("", body)])
        .refuses(&[Code::MissingField]);
    Endpoint { operation, route: web::route().to(verify) }
}

const ACCESS: Access = Access::Session;

const DESCRIPTION: &str = "\
Checks that a credential is a badge of this service, and that it is neither expired nor revoked.\n\n\
- Without an account, verify the badge with any library for JSON Web Tokens, the keys of \
`/.well-known/did.json`, and the status list that the badge names.\n\
- With `proof`, the response proves that the transparency log has the status.";
