//! Holds every answer that a case meets against the service's own OpenAPI document: there is none that it does not
//! name. Schemas are checked elsewhere; this is about statuses and codes, in situations that only these cases make.

use std::sync::OnceLock;

use serde_json::Value;

use super::client::{Answer, Client};

/// Fails where the document knows the endpoint and not this answer.
#[track_caller]
pub(crate) fn check(client: &Client, method: &str, path: &str, answer: &Answer) {
    let Some(document) = document(client) else { return };
    let Some(operation) = document["paths"][path].get(method.to_ascii_lowercase()) else { return };
    let status = answer.status.to_string();
    let response = operation["responses"].get(&status).unwrap_or_else(|| {
        panic!("{method} {path} answered {status}: {NOT_NAMED}");
    });
    let Some(examples) = response["content"].get("application/problem+json") else { return };
    let code = answer.json()["code"].as_str().unwrap_or_default().to_owned();
    assert!(
        examples["examples"].get(&code).is_some(),
        "{method} {path} answered {status} {code}: {NOT_NAMED}"
    );
}

/// The same of every server, so one is asked once. One that is being ended may not answer.
fn document(client: &Client) -> Option<&'static Value> {
    if let Some(document) = DOCUMENT.get() {
        return Some(document);
    }
    let answer = client.request("GET", "/openapi.json").try_answer().ok()?;
    (answer.status == 200).then(|| DOCUMENT.get_or_init(|| answer.json()))
}

static DOCUMENT: OnceLock<Value> = OnceLock::new();
const NOT_NAMED: &str = "its description in crates/api/src/openapi/operations does not name that";
