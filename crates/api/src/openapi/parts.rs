//! What operations share: headers, credentials, examples of refusals.

use sealpost_domain::Code;
use serde_json::{Map, Value, json};

use super::schemas::Schemas;
use crate::{errors, http::ProblemDocument};

/// The components object.
pub(super) fn components(base_url: &str, mut schemas: Schemas) -> Value {
    schemas.answered(schemars::SchemaGenerator::subschema_for::<ProblemDocument<'_>>);
    json!({
        "schemas": schemas.into_components(),
        "examples": refusals(base_url),
        "headers": headers(),
        "parameters": {
            "Idempotency-Key": {
                "name": "Idempotency-Key",
                "in": "header",
                "required": false,
                "description": IDEMPOTENCY_KEY,
                "schema": { "type": "string", "minLength": 1, "maxLength": 255, "pattern": "^[!#-~]([ !#-~]*[!#-~])?$" },
                "example": "8e03978e-40d5-43dd-bc93-6894a57f9324",
            },
            "X-Request-Id": {
                "name": "X-Request-Id",
                "in": "header",
                "required": false,
                "description": REQUEST_ID,
                "schema": { "type": "string" },
            },
        },
        "securitySchemes": {
            "session": {
                "type": "http",
                "scheme": "bearer",
                "description": "The session token of `POST /v1/auth/login`: it says who calls.",
            },
            "apiKey": {
                "type": "apiKey",
                "in": "header",
                "name": "X-DID-API-Key",
                "description": API_KEY,
            },
        },
    })
}

/// What may be sent along in headers.
pub(super) fn parameters(is_idempotent: bool, part: Option<&Value>) -> Value {
    let idempotency_key =
        is_idempotent.then(|| json!({ "$ref": "#/components/parameters/Idempotency-Key" }));
    let request_id = json!({ "$ref": "#/components/parameters/X-Request-Id" });
    part.cloned().into_iter().chain(idempotency_key).chain([request_id]).collect()
}

/// Takes away members that do not apply.
pub(super) fn drop_nulls(object: &mut Value) {
    if let Some(members) = object.as_object_mut() {
        members.retain(|_, member| !member.is_null());
    }
}

/// The example of each refusal, as the service itself would write it.
fn refusals(base_url: &str) -> Map<String, Value> {
    let example = |code: Code| {
        let problem = (errors::meaning(code).example)();
        let document = problem.document(base_url, errors::EXAMPLE_REQUEST);
        (code.to_string(), json!({ "summary": document.title, "value": document }))
    };
    Code::ALL.into_iter().map(example).collect()
}

fn headers() -> Value {
    json!({
        "Allow": {
            "description": "The method that is accepted.",
            "required": true,
            "schema": { "type": "string" },
            "example": "POST",
        },
        "Idempotency-Replayed": {
            "description": "This is the answer to an earlier, the same request; nothing was sent.",
            "schema": { "const": "true" },
        },
        "RateLimit": {
            "description": "What is left of each limit (`r`) and in how many seconds it begins anew (`t`).",
            "schema": { "type": "string" },
            "example": "\"minute\";r=19;t=22, \"day\";r=999;t=61402, \"month\";r=999;t=839002",
        },
        "RateLimit-Policy": {
            "description": "The limits of the key's plan: how many (`q`) in how many seconds (`w`).",
            "schema": { "type": "string" },
            "example": "\"minute\";q=20;w=60, \"day\";q=1000;w=86400, \"month\";q=1000",
        },
        "Retry-After": {
            "description": "Whole seconds until the same request can succeed.",
            "schema": { "type": "integer", "minimum": 1 },
            "example": 35,
        },
        "WWW-Authenticate": {
            "description": "How to authenticate.",
            "required": true,
            "schema": { "const": "Bearer" },
        },
        "X-Request-Id": {
            "description": "The name of this request: yours where you gave one, else a fresh one.",
            "required": true,
            "schema": { "type": "string" },
            "example": errors::EXAMPLE_REQUEST,
        },
    })
}

const API_KEY: &str = "\
The API key to act as; it may stand in the body instead, as `api_key_id`. It is an identity and no secret: the session \
token is what authorizes.";
const IDEMPOTENCY_KEY: &str = "\
Your own name for this request, bare or in quotes. The same request again under it gets the first answer and sends \
nothing; kept for 24 hours by default.";
const REQUEST_ID: &str = "\
Your own name for this request, for logs and support: 1 to 64 letters, digits, `-`, `_` and `.`. Without one, or with \
another one, the service makes one.";
