//! The answers of an operation: the one that it is called for, and its refusals by status.

use std::collections::BTreeMap;

use sealpost_domain::Code;
use serde_json::{Map, Value, json};

use super::{
    operation::{Access, Operation},
    parts,
    schemas::Schemas,
};
use crate::http;

/// The responses object.
pub(super) fn render(operation: &Operation, schemas: &mut Schemas) -> Value {
    let mut responses = Map::new();
    responses.insert("200".to_owned(), success(operation, schemas));
    for (status, codes) in by_status(&operation.refusals) {
        responses.insert(status.to_string(), refusal(operation, status, &codes));
    }
    Value::Object(responses)
}

fn success(operation: &Operation, schemas: &mut Schemas) -> Value {
    let schema = schemas.answered(operation.answer.schema);
    let mut names = vec!["X-Request-Id"];
    if operation.access == Access::Key {
        names.extend(RATE_LIMIT);
    }
    if operation.is_idempotent {
        names.push("Idempotency-Replayed");
    }
    let mut answer = json!({
        "description": "Done.",
        "headers": headers(&names),
        "content": { operation.kind: operation.answer.render(&schema) },
        "links": operation.link,
    });
    parts::drop_nulls(&mut answer);
    answer
}

/// Several codes may share a status; the schema says which ones.
fn refusal(operation: &Operation, status: u16, codes: &[Code]) -> Value {
    let titles = codes.iter().map(|code| format!("`{code}`: {}.", http::status_and_title(*code).1));
    let examples: Map<_, _> = codes.iter().copied().map(example).collect();
    json!({
        "description": titles.collect::<Vec<_>>().join(" "),
        "headers": headers(&headers_of(operation, status)),
        "content": { "application/problem+json": {
            "schema": { "allOf": [
                { "$ref": "#/components/schemas/Problem" },
                { "properties": { "status": { "const": status }, "code": { "enum": codes } } },
            ] },
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
        // A key that is being rotated is worth another try.
        403 | 429 | 503 => names.push("Retry-After"),
        _ => {}
    }
    let comes_before_the_limits = matches!(status, 401 | 405 | 408 | 415 | 500 | 503);
    if operation.access == Access::Key && !comes_before_the_limits {
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

fn by_status(codes: &[Code]) -> BTreeMap<u16, Vec<Code>> {
    let mut found: BTreeMap<u16, Vec<Code>> = BTreeMap::new();
    for code in codes {
        let codes = found.entry(http::status_and_title(*code).0.as_u16()).or_default();
        if !codes.contains(code) {
            codes.push(*code);
        }
    }
    found
}

const RATE_LIMIT: [&str; 2] = ["RateLimit-Policy", "RateLimit"];
