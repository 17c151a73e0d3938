//! `GET /v1/status/{list}`.

use sealpost_domain::Code;
use serde_json::json;

use super::{Group, Operation};

pub(super) fn operation() -> Operation {
    let example = json!(
        "eyJhbGciOiJFZERTQSIsImN0eSI6InZjIiwidHlwIjoidmMrand0In0.eyJpc3MiOiJkaWQ6d2ViOnNlYWwuZXhhbXBsZS5vcmcifQ.c2lnbmF0dXJl"
    );
    Operation::get::<String>("/v1/status/{list}", "statusList", example)
        .says(Group::Badges, "Get a status list", ABOUT)
        .of_kind("application/vc+jwt")
        .at(json!({
            "name": "list",
            "in": "path",
            "required": true,
            "description": "Its number, as `credentialStatus` of a badge has it in the address.",
            "schema": { "type": "string" },
            "example": "1",
        }))
        .refuses(&[Code::NotFound, Code::InternalError, Code::ServiceUnavailable])
}

const ABOUT: &str = "\
Which badges were revoked: a W3C Bitstring Status List as a signed credential, which any verifier may fetch and keep for \
seconds.";
