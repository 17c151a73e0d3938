//! `POST /v1/compliance/validate`.

use sealpost_domain::Code;
use sealpost_service::{Validate, Validated};
use serde_json::json;

use super::{Group, Operation};

pub(super) fn operation() -> Operation {
    let check = |status: &str, valid_until: Option<&str>| {
        json!({
            "name": "identity_verified",
            "status": status,
            "valid_until": valid_until,
            "required": true,
            "any_of": ["identity_verified"],
        })
    };
    let answer = json!({
        "jurisdiction": "DEFAULT",
        "passed": true,
        "checks": [check("passed", Some("2027-11-21T06:56:38.000Z"))],
    });
    let tried = json!({
        "jurisdiction": "DEFAULT",
        "passed": false,
        "checks": [check("missing", None)],
        "dry_run": true,
        "refusals": [{
            "code": "COMPLIANCE_CIRCUIT_FAILED",
            "detail": "the circuit DEFAULT does not hold: identity_verified is missing",
            "jurisdiction": "DEFAULT",
            "checks": [check("missing", None)],
        }],
    });
    Operation::post::<Validated>("/v1/compliance/validate", "validateCompliance", answer)
        .or_gives("dry run", tried)
        .says(Group::Badges, "Validate compliance", ABOUT)
        .acting_as_key()
        .takes::<Validate>(vec![
            ("", json!({ "jurisdiction": "DEFAULT" })),
            ("dry run", json!({ "jurisdiction": "DEFAULT", "dry_run": true })),
        ])
        .refuses(&[Code::MissingField, Code::ComplianceCircuitFailed])
}

const ABOUT: &str = "\
Says how the key stands to a jurisdiction's circuit: each check passed, missing, expired or failed. Where a required one \
has not passed, that is refused, or with `dry_run` answered. An unknown jurisdiction is refused with a list of those \
that there are.";
