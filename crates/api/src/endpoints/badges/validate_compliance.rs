//! `POST /v1/compliance/validate`: evaluates the compliance circuit of a jurisdiction for an API key. A circuit is a
//! set of checks that operators attest.

use actix_web::web;
use sealpost_domain::{Code, Refusal};
use sealpost_service::{Access, Purpose, Validate, Validated};
use serde_json::json;

use crate::{
    endpoint::Endpoint,
    openapi::{Operation, Tag},
    request::{KeyRequest, request_body},
    response::{LimitedResponse, ask_as_key},
    state::ApiState,
};

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
    check check_jurisdiction
}

fn check_jurisdiction(body: &ValidateRequest, app: &ApiState) -> Result<(), Refusal> {
    app.sealpost.badges.check_jurisdiction(&body.jurisdiction)
}

async fn validate(
    app: web::Data<ApiState>,
    request: KeyRequest<ValidateRequest>,
) -> LimitedResponse<Validated> {
    ask_as_key(&app, request, ACCESS, Purpose::Manage, async |sealpost, caller, body| {
        let ValidateRequest { jurisdiction, dry_run } = body;
        sealpost.badges.validate(caller, Validate { jurisdiction, dry_run }).await
    })
    .await
}

pub(in crate::endpoints) fn endpoint() -> Endpoint {
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
        .describe(Tag::Badges, "Validate compliance", DESCRIPTION)
        .session_and_key(ACCESS)
        .body::<ValidateRequest>(vec![
            ("", json!({ "jurisdiction": "DEFAULT" })),
            ("dry run", json!({ "jurisdiction": "DEFAULT", "dry_run": true })),
        ])
        .refuses(&[Code::MissingField, Code::ComplianceCircuitFailed]);
    Endpoint { operation, route: web::route().to(validate) }
}

const ACCESS: Access = Access::Session;

const DESCRIPTION: &str = "\
Checks the key against the circuit of a jurisdiction. Each check is passed, missing, expired or failed. If a required \
check has not passed, the response is a refusal, or with `dry_run` a report. The refusal of an unknown jurisdiction \
lists the known ones.";
