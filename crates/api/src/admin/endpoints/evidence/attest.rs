//! `POST /admin/v1/attestations/record`: records that a key passed or failed a check.

use actix_web::web;
use schemars::JsonSchema;
use sealpost_domain::{ApiKeyId, CheckName, Refusal, Timestamp};
use sealpost_service::{AssessmentSource, Attest, AttestationShown};
use serde_json::json;

use crate::{
    admin::{
        page::{parsed, parsed_required},
        request::{ActRequest, Reason},
    },
    endpoint::Endpoint,
    openapi::{Operation, Tag},
    request::{Fields, RequestBody, invalid},
    response::JsonResponse,
};

/// An attestation: the result of a check of an API key.
#[derive(JsonSchema)]
struct AttestRequest {
    /// The checked API key.
    api_key_id: ApiKeyId,
    /// The name of the check, as in the file of compliance circuits.
    check: CheckName,
    /// True if the key failed the check.
    #[schemars(default)]
    failed: bool,
    /// The time at which the attestation expires. If omitted, the attestation has no expiry time of its own.
    valid_until: Option<Timestamp>,
    /// The reason for the attestation, or the method of the check.
    reason: Reason,
}

impl RequestBody for AttestRequest {
    fn read(fields: &mut Fields) -> Result<Self, Refusal> {
        fields.require(&["api_key_id", "check", "reason"])?;
        let api_key_id = parsed_required(fields, "api_key_id")?;
        let check = CheckName::parse(&fields.text("check")?);
        let check = check.map_err(|fault| invalid("check", fault.to_string()))?;
        let failed = fields.flag("failed")?;
        let valid_until = parsed(fields, "valid_until")?;
        Ok(Self { api_key_id, check, failed, valid_until, reason: Reason::read(fields)? })
    }
}

async fn attest(request: ActRequest<AttestRequest>) -> JsonResponse<AttestationShown> {
    request
        .perform(
            |body| &body.reason,
            |operator, body| {
                let AttestRequest { api_key_id, check, failed, valid_until, reason } = body;
                let source = AssessmentSource { by: None, reason: reason.0 };
                operator.attest(&api_key_id, &Attest { check, valid_until, failed }, &source)
            },
        )
        .await
}

pub(in crate::admin::endpoints) fn endpoint() -> Endpoint {
    Endpoint { operation: operation(), route: web::route().to(attest) }
}

fn operation() -> Operation {
    let key = "ak_01m7ye92k0ejgs32r4n1j3x7m3";
    let recorded = json!({
        "attestation_id": "att_01m7ye92k0e5wsvs5qjndehdka",
        "api_key_id": key,
        "check": "identity_verified",
        "failed": false,
        "valid_until": "2027-01-31T00:00:00.000Z",
        "attester": "console:alice",
        "reason": "Passport seen",
        "at": "2026-11-21T06:56:38.596Z",
    });
    let body = json!({
        "api_key_id": key,
        "check": "identity_verified",
        "valid_until": "2027-01-31T00:00:00.000Z",
        "reason": "Passport seen",
    });
    Operation::new::<AttestationShown>("recordAttestation", recorded)
        .describe(
            Tag::Evidence,
            "Record an attestation",
            "Records that a key passed or failed a check. The newest attestation of a check counts.",
        )
        .acting_operator()
        .body::<AttestRequest>(vec![("", body)])
}
