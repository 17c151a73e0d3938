//! Renders the responses of an operation: one for success, and one for each HTTP status of its errors.

use std::collections::BTreeMap;

use actix_web::http::Method;
use sealpost_domain::Code;
use serde_json::{Map, Value, json};

use super::{
    operation::{Operation, media_type},
    parts,
    schemas::Schemas,
};
use crate::response::status_and_title;

/// Renders the OpenAPI responses object of an operation.
pub(super) fn render(operation: &Operation, method: &Method, schemas: &mut Schemas) -> Value {
    let mut responses = Map::new();
    responses.insert("200".to_owned(), success(operation, schemas));
    let of_method = if *method == Method::POST { OF_POST } else { OF_GET };
    for (status, codes) in by_status(of_method.iter().chain(&operation.refusals).copied()) {
        responses.insert(status.to_string(), refusal(operation, status, &codes));
    }
    Value::Object(responses)
}

fn success(operation: &Operation, schemas: &mut Schemas) -> Value {
    let schema = schemas.response(operation.success.schema);
    let mut names = vec!["X-Request-Id"];
    if operation.credentials.has_key() {
        names.extend(RATE_LIMIT);
    }
    if operation.is_idempotent {
        names.push("Idempotency-Replayed");
    }
    let content = media_type(&schema, &operation.success.examples);
    let content_types = operation.content_types.iter();
    let content: Map<_, _> =
        content_types.map(|content_type| ((*content_type).to_owned(), content.clone())).collect();
    let mut response = json!({
        "description": "Success.",
        "headers": headers(&names),
        "content": content,
        "links": operation.links,
    });
    parts::drop_nulls(&mut response);
    response
}

/// Renders the response for all errors with one HTTP status. All errors have the same schema, so that client generators
/// create one type for them. Each code has an example.
fn refusal(operation: &Operation, status: u16, codes: &[Code]) -> Value {
    let titles = codes.iter().map(|code| format!("`{code}`: {}.", status_and_title(*code).1));
    let examples: Map<_, _> = codes.iter().copied().map(example).collect();
    json!({
        "description": titles.collect::<Vec<_>>().join(" "),
        "headers": headers(&headers_of(operation, status)),
        "content": { "application/problem+json": {
            "schema": { "$ref": "#/components/schemas/Problem" },
            "examples": examples,
        } },
    })
}

fn example(code: Code) -> (String, Value) {
    (code.to_string(), json!({ "$ref": format!("#/components/examples/{code}") }))
}

fn headers_of(operation: &Operation, status: u16) -> Vec<&'static str> {
    let mut names = vec!["X-Request-Id"];
    match status {
        401 => names.push("WWW-Authenticate"),
        405 => names.push("Allow"),
        // While a key rotates, its requests get 403. The key is active again soon, so this 403 has `Retry-After`.
        403 | 429 | 503 => names.push("Retry-After"),
        _ => {}
    }
    let comes_before_the_limits = matches!(status, 401 | 405 | 408 | 415 | 431 | 500 | 503);
    if operation.credentials.has_key() && !comes_before_the_limits {
        names.extend(RATE_LIMIT);
    }
    names
}

fn headers(names: &[&str]) -> Map<String, Value> {
    let reference = |name: &&str| {
        ((*name).to_owned(), json!({ "$ref": format!("#/components/headers/{name}") }))
    };
    names.iter().map(reference).collect()
}

fn by_status(codes: impl Iterator<Item = Code>) -> BTreeMap<u16, Vec<Code>> {
    let mut by_status: BTreeMap<u16, Vec<Code>> = BTreeMap::new();
    for code in codes {
        let codes = by_status.entry(status_and_title(code).0.as_u16()).or_default();
        if !codes.contains(&code) {
            codes.push(code);
        }
    }
    by_status
}

/// Error codes that every GET endpoint can return.
const OF_GET: &[Code] = &[Code::MethodNotAllowed, Code::InvalidHttp, Code::HeadersTooLarge];
/// Error codes that every POST endpoint can return. Most concern the request body.
const OF_POST: &[Code] = &[
    Code::MethodNotAllowed,
    Code::InvalidHttp,
    Code::HeadersTooLarge,
    Code::InvalidJson,
    Code::RequestTimeout,
    Code::PayloadTooLarge,
    Code::UnsupportedMediaType,
    Code::InternalError,
    Code::ServiceUnavailable,
];
const RATE_LIMIT: [&str; 2] = ["RateLimit-Policy", "RateLimit"];
