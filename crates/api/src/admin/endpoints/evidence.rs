//! Operator endpoints for badges and for the evidence that badges are based on: assessments (scores of an API key) and
//! attestations (results of checks of a key).

use sealpost_domain::{ApiKeyId, AssessmentMetrics, BadgeId, CheckName, Code, Score, Timestamp};
use sealpost_service::{AssessmentSource, AssessmentView, Attest, AttestationView, BadgeRevoked};
use serde_json::json;

use crate::{
    admin::request::{Reason, act},
    endpoint::Endpoint,
    openapi::{Operation, Tag},
    request::request_body,
};

request_body! {
    /// An assessment of an API key: four scores, and the reason.
    struct AssessRequest {
        /// The assessed API key.
        api_key_id: ApiKeyId,
        /// The score for clarity, from 0 to 1.
        clarity: Score,
        /// The score for coherence, from 0 to 1.
        coherence: Score,
        /// Confidence of the assessor, from 0 to 1.
        confidence: Score,
        /// Drift, the distance from the declared behaviour, from 0 to 1.
        drift: Score,
        /// The reason for the scores, or the method that produced them.
        reason: Reason,
    }
}

request_body! {
    /// An attestation: the result of a check of an API key.
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
}

request_body! {
    /// The badge to revoke.
    struct RevokeBadgeRequest {
        /// The id of the badge.
        badge_id: BadgeId,
        /// The reason, for the audit trail. It is not published.
        reason: Reason,
    }
}

/// `POST /admin/v1/assessments/record`
pub(super) fn assess() -> Endpoint {
    let key = "ak_01m7ye92k0ejgs32r4n1j3x7m3";
    let recorded = json!({
        "assessment_id": "asmt_01m7ye92k0e5wsvs5qjndehdka",
        "api_key_id": key,
        "clarity": "0.81",
        "coherence": "0.74",
        "confidence": "0.95",
        "drift": "0.04",
        "assessor": "console:alice",
        "reason": "Review of March",
        "at": "2026-11-21T06:56:38.596Z",
    });
    let body = json!({
        "api_key_id": key,
        "clarity": "0.81",
        "coherence": "0.74",
        "confidence": "0.95",
        "drift": "0.04",
        "reason": "Review of March",
    });
    let operation = Operation::new::<AssessmentView>("recordAssessment", recorded)
        .describe(Tag::Evidence, "Record an assessment", ASSESS)
        .body::<AssessRequest>(vec![("", body)]);
    act(
        operation,
        |operator, body: AssessRequest| {
            let AssessRequest { api_key_id, clarity, coherence, confidence, drift, reason } = body;
            let metrics = AssessmentMetrics { clarity, coherence, confidence, drift };
            operator.assess(&api_key_id, metrics, &AssessmentSource { by: None, reason: reason.0 })
        },
        |body| &body.reason,
    )
}

/// `POST /admin/v1/attestations/record`
pub(super) fn attest() -> Endpoint {
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
    let operation = Operation::new::<AttestationView>("recordAttestation", recorded)
        .describe(
            Tag::Evidence,
            "Record an attestation",
            "Records that a key passed or failed a check. The newest attestation of a check counts.",
        )
        .body::<AttestRequest>(vec![("", body)]);
    act(
        operation,
        |operator, body: AttestRequest| {
            let AttestRequest { api_key_id, check, failed, valid_until, reason } = body;
            let source = AssessmentSource { by: None, reason: reason.0 };
            operator.attest(&api_key_id, &Attest { check, valid_until, failed }, &source)
        },
        |body| &body.reason,
    )
}

/// `POST /admin/v1/badges/revoke`
pub(super) fn revoke_badge() -> Endpoint {
    let badge = "bdg_01m7ye92k0e5wsvs5qjndehdka";
    let revoked = json!({
        "badge_id": badge,
        "revoked_at": "2026-11-21T06:56:38.596Z",
        "reason": "Withdrawn",
    });
    let operation = Operation::new::<BadgeRevoked>("revokeBadge", revoked)
        .describe(
            Tag::Evidence,
            "Revoke a badge",
            "Revokes a badge permanently. Its status list then shows the revocation.",
        )
        .body::<RevokeBadgeRequest>(vec![("", json!({ "badge_id": badge, "reason": "Withdrawn" }))])
        .refuses(&[Code::ActionRefused]);
    act(
        operation,
        |operator, body: RevokeBadgeRequest| operator.revoke_badge(&body.badge_id, &body.reason.0),
        |body| &body.reason,
    )
}

const ASSESS: &str = "\
Records an assessment of a key. Badges that are issued later are based on the newest assessment. A repeated call records \
a second, equal assessment.";
