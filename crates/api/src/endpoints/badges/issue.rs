//! `POST /v1/badges/issue`: issues a badge, a signed credential. The badge certifies that the newest assessment of an
//! API key met all thresholds.

use actix_web::web;
use sealpost_domain::{Code, Refusal};
use sealpost_service::{Access, Issue, Issued, Purpose};
use serde_json::json;

use crate::{
    endpoint::Endpoint,
    openapi::{Operation, Tag},
    request::{KeyRequest, request_body},
    response::{LimitedResponse, ask_as_key},
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
    check check_jurisdiction
}

fn check_jurisdiction(body: &IssueRequest, app: &ApiState) -> Result<(), Refusal> {
    let named = body.jurisdiction.as_ref();
    named.map_or(Ok(()), |name| app.sealpost.badges.check_jurisdiction(name))
}

async fn issue(
    app: web::Data<ApiState>,
    request: KeyRequest<IssueRequest>,
) -> LimitedResponse<Issued> {
    ask_as_key(&app, request, ACCESS, Purpose::Execute, async |sealpost, caller, body| {
        let IssueRequest { jurisdiction, disclose_did, dry_run } = body;
        sealpost.badges.issue(caller, Issue { jurisdiction, disclose_did, dry_run }).await
    })
    .await
}

pub(in crate::endpoints) fn endpoint() -> Endpoint {
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
        .describe(Tag::Badges, "Issue a badge", DESCRIPTION)
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
    Endpoint { operation, route: web::route().to(issue) }
}

const ACCESS: Access = Access::Session;

const DESCRIPTION: &str = "\
Issues a badge on the newest assessment of the key: a W3C Verifiable Credential 2.0 in Open Badges 3.0 shape, as \
a JWT.\n\n\
- Any verifier checks it with the keys of `/.well-known/did.json`.\n\
- The badge names the key as a URN. With `disclose_did` it names the DID.\n\
- With `dry_run` the service issues nothing and lists all refusals.";
