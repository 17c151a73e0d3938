//! Endpoints for badges (signed credentials about an API key), for compliance checks, and for the public documents that
//! a verifier of a badge fetches. A compliance circuit is the set of checks of a jurisdiction, which operators attest.

pub(super) mod did_document;
pub(super) mod status_list;

use sealpost_domain::{Code, Refusal};
use sealpost_service::{
    Access, BadgeVerified, Issue, Issued, ProofFormat, Purpose, Validate, Validated,
};
use serde_json::json;

use crate::{
    endpoint::Endpoint,
    openapi::{Operation, Tag},
    request::request_body,
    state::ApiState,
};

request_body! {
    /// The options of a new badge.
    struct IssueRequest {
        /// A jurisdiction. If given, the key must also pass the compliance circuit (set of checks) of this jurisdiction.
        #[schemars(extend("pattern" = "^[A-Za-z0-9-]{2,16}$"))]
        jurisdiction: Option<String>,
        /// If true, the badge names the DID of the key instead of the key.
        #[schemars(with = "Option<bool>")]
        disclose_did: bool,
        /// If true, issues no badge and only lists the reasons for a refusal.
        #[schemars(with = "Option<bool>")]
        dry_run: bool,
    }
    check check_issue
}

fn check_issue(body: &IssueRequest, app: &ApiState) -> Result<(), Refusal> {
    let named = body.jurisdiction.as_ref();
    named.map_or(Ok(()), |name| app.sealpost.badges.check_jurisdiction(name))
}

pub(super) fn issue_endpoint() -> Endpoint {
    let issued = json!({
        "badge_id": "bdg_01m7ye92v3e6n8d9ywq7j0x1rk",
        "issued_at": "2026-11-21T06:56:38.000Z",
        "expires_at": "2027-02-19T06:56:38.000Z",
        "credential": "eyJhbGciOiJFZERTQSIsImN0eSI6InZjIiwidHlwIjoidmMrand0In0.eyJpc3MiOiJkaWQ6d2ViOnNlYWwuZXhhbXBsZS5vcmcifQ.c2lnbmF0dXJl",
    });
    let dry_run = json!({
        "dry_run": true,
        "granted": false,
        "refusals": [{
            "code": "BADGE_DENIED_THRESHOLDS",
            "detail": "confidence is 0.85 and must be >= 0.9; fix the cause, then ask the operator for a new assessment",
            "unmet": [{ "metric": "confidence", "value": "0.85", "bound": "0.9", "must_be": ">=" }],
        }],
    });
    let operation = Operation::new::<Issued>("issueBadge", issued)
        .or_responds("dry run", dry_run)
        .describe(Tag::Badges, "Issue a badge", ISSUE)
        .session_and_key(ACCESS)
        .optional_body::<IssueRequest>(vec![
            ("on the newest assessment", json!({})),
            ("only if a circuit passes too", json!({ "jurisdiction": "EU" })),
            ("dry run", json!({ "dry_run": true })),
        ])
        .refuses(&[
            Code::GovernanceBlocked,
            Code::QuotaExceeded,
            Code::BadgeDeniedDrift,
            Code::BadgeDeniedThresholds,
            Code::ComplianceCircuitFailed,
        ]);
    operation.for_key(ACCESS, Purpose::Execute, async |app, _, caller, body: IssueRequest| {
        let IssueRequest { jurisdiction, disclose_did, dry_run } = body;
        app.sealpost.badges.issue(caller, Issue { jurisdiction, disclose_did, dry_run }).await
    })
}

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

pub(super) fn verify_endpoint() -> Endpoint {
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
        .describe(Tag::Badges, "Verify a badge", VERIFY)
        .repeatable()
        .session_and_key(ACCESS)
        .body::<VerifyRequest>(vec![("", body)])
        .refuses(&[Code::MissingField]);
    operation.for_key(ACCESS, Purpose::Manage, async |app, _, caller, body: VerifyRequest| {
        let proof = body.proof.then(|| body.proof_format.unwrap_or_default());
        app.sealpost.badges.verify(caller, body.credential, proof).await
    })
}

request_body! {
    /// The jurisdiction whose checks are evaluated.
    struct ValidateRequest {
        /// The name of the jurisdiction.
        #[schemars(extend("pattern" = "^[A-Za-z0-9-]{2,16}$"))]
        jurisdiction: String,
        /// If true, responds with 200 even if a required check has not passed.
        #[schemars(with = "Option<bool>")]
        dry_run: bool,
    }
    check check_validate
}

fn check_validate(body: &ValidateRequest, app: &ApiState) -> Result<(), Refusal> {
    app.sealpost.badges.check_jurisdiction(&body.jurisdiction)
}

pub(super) fn validate_endpoint() -> Endpoint {
    let check = |status: &str, valid_until: Option<&str>| {
        json!({
            "name": "identity_verified",
            "status": status,
            "valid_until": valid_until,
            "required": true,
            "any_of": ["identity_verified"],
        })
    };
    let passed = json!({
        "jurisdiction": "DEFAULT",
        "passed": true,
        "checks": [check("passed", Some("2027-11-21T06:56:38.000Z"))],
    });
    let dry_run = json!({
        "jurisdiction": "DEFAULT",
        "passed": false,
        "checks": [check("missing", None)],
        "dry_run": true,
        "refusals": [{
            "code": "COMPLIANCE_CIRCUIT_FAILED",
            "detail": "the compliance circuit of DEFAULT did not pass; ask the operator to attest its required checks",
            "jurisdiction": "DEFAULT",
            "checks": [check("missing", None)],
        }],
    });
    let operation = Operation::new::<Validated>("validateCompliance", passed)
        .or_responds("dry run", dry_run)
        .describe(Tag::Badges, "Validate compliance", VALIDATE)
        .session_and_key(ACCESS)
        .body::<ValidateRequest>(vec![
            ("", json!({ "jurisdiction": "DEFAULT" })),
            ("dry run", json!({ "jurisdiction": "DEFAULT", "dry_run": true })),
        ])
        .refuses(&[Code::MissingField, Code::ComplianceCircuitFailed]);
    operation.for_key(ACCESS, Purpose::Manage, async |app, _, caller, body: ValidateRequest| {
        let ValidateRequest { jurisdiction, dry_run } = body;
        app.sealpost.badges.validate(caller, Validate { jurisdiction, dry_run }).await
    })
}

const ACCESS: Access = Access::Session;
const ISSUE: &str = "\
Issues a badge on the newest assessment of the key: a W3C Verifiable Credential 2.0 in Open Badges 3.0 shape, as \
a JWT.\n\n\
- Any verifier checks it with the keys of `/.well-known/did.json`.\n\
- The badge names the key as a URN. With `disclose_did` it names the DID.\n\
- With `dry_run` the service issues nothing and lists all refusals.";
const VERIFY: &str = "\
Checks that a credential is a badge of this service, and that it is neither expired nor revoked.\n\n\
- Without an account, verify the badge with any library for JSON Web Tokens, the keys of \
`/.well-known/did.json`, and the status list that the badge names.\n\
- With `proof`, the response proves that the transparency log has the status.";
const VALIDATE: &str = "\
Checks the key against the circuit of a jurisdiction. Each check is passed, missing, expired or failed. If a required \
check has not passed, the response is a refusal, or with `dry_run` a report. The refusal of an unknown jurisdiction \
lists the known ones.";
