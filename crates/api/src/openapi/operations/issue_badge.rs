//! `POST /v1/badges/issue`.

use sealpost_domain::Code;
use sealpost_service::{Issue, Issued};
use serde_json::json;

use super::{Group, Operation};

pub(super) fn operation() -> Operation {
    let answer = json!({
        "badge_id": "bdg_01m7ye92v3e6n8d9ywq7j0x1rk",
        "issued_at": "2026-11-21T06:56:38.000Z",
        "expires_at": "2027-02-19T06:56:38.000Z",
        "credential": "eyJhbGciOiJFZERTQSIsImN0eSI6InZjIiwidHlwIjoidmMrand0In0.eyJpc3MiOiJkaWQ6d2ViOnNlYWwuZXhhbXBsZS5vcmcifQ.c2lnbmF0dXJl",
    });
    let tried = json!({
        "dry_run": true,
        "granted": false,
        "refusals": [{
            "code": "BADGE_DENIED_THRESHOLDS",
            "detail": "confidence is 0.85 and must be >= 0.9; fix the cause, then ask the operator for a new assessment",
            "unmet": [{ "metric": "confidence", "value": "0.85", "bound": "0.9", "must_be": ">=" }],
        }],
    });
    Operation::post::<Issued>("/v1/badges/issue", "issueBadge", answer)
        .or_gives("dry run", tried)
        .says(Group::Badges, "Issue a badge", ABOUT)
        .acting_as_key()
        .may_take::<Issue>(vec![
            ("on the newest assessment", json!({})),
            ("only where a circuit holds as well", json!({ "jurisdiction": "EU" })),
            ("dry run", json!({ "dry_run": true })),
        ])
        .refuses(&[
            Code::GovernanceBlocked,
            Code::QuotaExceeded,
            Code::BadgeDeniedDrift,
            Code::BadgeDeniedThresholds,
            Code::ComplianceCircuitFailed,
        ])
}

const ABOUT: &str = "\
Gives the key a badge on its newest assessment: a W3C Verifiable Credential 2.0 in Open Badges 3.0 shape, as a JWT that \
anybody verifies with the keys of `/.well-known/did.json`. It names the key as a URN, and the DID only where you ask for \
that. With `dry_run` nothing is issued, and the answer lists everything that would be refused.";
