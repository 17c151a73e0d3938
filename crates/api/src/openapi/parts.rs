//! Renders the shared components of the document: headers, parameters, security schemes and error examples.

use sealpost_domain::Code;
use serde_json::{Map, Value, json};

use super::{document_head::DocumentHead, operation::Operation, schemas::Schemas};
use crate::{errors, response::ProblemDocument};

/// Renders the OpenAPI components object, including all collected schemas.
pub(super) fn components(base_url: &str, head: &DocumentHead, mut schemas: Schemas) -> Value {
    schemas.response(schemars::SchemaGenerator::subschema_for::<ProblemDocument<'_>>);
    let mut schemas = schemas.into_components();
    let codes = head.codes.iter().map(|code| code.as_str());
    let listed = schemas.get_mut("Problem").and_then(|of| of.pointer_mut("/properties/code/enum"));
    if let Some(listed) = listed {
        *listed = codes.collect();
    }
    json!({
        "schemas": schemas,
        "examples": refusals(base_url, &head.codes),
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
            "X-DID-API-Key": {
                "name": "X-DID-API-Key",
                "in": "header",
                "required": false,
                "description": API_KEY,
                "schema": { "type": "string" },
                "example": "ak_01m7ye92k0ejgs32r4n1j3x7m3",
            },
            "X-Request-Id": {
                "name": "X-Request-Id",
                "in": "header",
                "required": false,
                "description": REQUEST_ID,
                "schema": { "type": "string" },
                "example": errors::EXAMPLE_REQUEST,
            },
        },
        "securitySchemes": security_schemes(head),
    })
}

fn security_schemes(head: &DocumentHead) -> Map<String, Value> {
    let scheme = |&(name, description): &(&'static str, &'static str)| {
        let scheme = json!({ "type": "http", "scheme": "bearer", "description": description });
        (name.to_owned(), scheme)
    };
    head.credentials.iter().map(scheme).collect()
}

/// Renders the parameters of an operation: the parameter in path or query if any, and the request headers.
pub(super) fn parameters(operation: &Operation) -> Value {
    let headers = [
        (operation.credentials.has_key(), "X-DID-API-Key"),
        (operation.is_idempotent, "Idempotency-Key"),
        (true, "X-Request-Id"),
    ];
    let headers = headers.into_iter().filter(|(is_used, _)| *is_used);
    let reference = |(_, name)| json!({ "$ref": format!("#/components/parameters/{name}") });
    operation.parameter.clone().into_iter().chain(headers.map(reference)).collect()
}

/// Returns an example object with further members.
pub(crate) fn with_members(mut object: Value, members: Value) -> Value {
    if let (Some(object), Value::Object(members)) = (object.as_object_mut(), members) {
        object.extend(members);
    }
    object
}

/// Removes the members of an object with the value null.
pub(super) fn drop_nulls(object: &mut Value) {
    if let Some(members) = object.as_object_mut() {
        members.retain(|_, member| !member.is_null());
    }
}

/// Removes examples, headers and parameters from the components if no operation refers to them.
pub(crate) fn drop_unused_components(document: &mut Value) {
    let used = document.get("paths").map(ToString::to_string).unwrap_or_default();
    for kind in ["examples", "headers", "parameters"] {
        let components = document.pointer_mut(&format!("/components/{kind}"));
        let Some(components) = components.and_then(Value::as_object_mut) else { continue };
        components.retain(|name, _| used.contains(&format!("\"#/components/{kind}/{name}\"")));
    }
}

/// Renders an example for each error code, with the function that also renders real error responses.
fn refusals(base_url: &str, codes: &[Code]) -> Map<String, Value> {
    let example = |code: Code| {
        let problem = (errors::documentation(code).example)();
        let document = problem.document(base_url, errors::EXAMPLE_REQUEST);
        (code.to_string(), json!({ "summary": document.title, "value": document }))
    };
    codes.iter().copied().map(example).collect()
}

fn headers() -> Value {
    json!({
        "Allow": {
            "description": "The accepted method.",
            "required": true,
            "schema": { "type": "string" },
            "example": "POST",
        },
        "Idempotency-Replayed": {
            "description": "This is the response to an earlier, identical request. Nothing was sent again.",
            "schema": { "type": "string", "const": "true" },
        },
        "RateLimit": {
            "description": "The rest of each limit (`r`), and the seconds until the window ends (`t`).",
            "schema": { "type": "string" },
            "example": "\"minute\";r=19;t=22, \"day\";r=999;t=61402, \"month\";r=999;t=839002",
        },
        "RateLimit-Policy": {
            "description": "The limits of the key's plan: the number (`q`) per window, and the length of the window in seconds (`w`).",
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
            "schema": { "type": "string", "const": "Bearer" },
        },
        "X-Request-Id": {
            "description": "The id of this request: the id that the client sent, or else a new one.",
            "required": true,
            "schema": { "type": "string" },
            "example": errors::EXAMPLE_REQUEST,
        },
    })
}

const API_KEY: &str = "\
The API key to act as. The body may name it instead, as `api_key_id`. A session token needs it; an API token acts as \
its own key. An API key is an identity and no secret: the token authorizes.";
const IDEMPOTENCY_KEY: &str = "\
A unique string for this message, with or without quotes. If the same request is sent again with the same key, the \
service repeats the first response and sends nothing. Keys are kept for 24 hours by default.";
const REQUEST_ID: &str = "\
An id for this request, for logs and support: 1 to 64 letters, digits, `-`, `_` and `.`. If it is absent or invalid, \
the service makes an id.";
