//! Compares every response of the tests with the service's OpenAPI document.
//!
//! Checks statuses and codes in situations that only these tests create. Schemas are checked in
//! `tests/openapi`.

use std::sync::OnceLock;

use serde_json::Value;

use super::{Client, Response};

/// Panics if the document has the endpoint without this response.
#[track_caller]
pub(crate) fn check(client: &Client, method: &str, path: &str, response: &Response) {
    let Some(document) = document(client) else { return };
    let Some(operation) = document["paths"][path].get(method.to_ascii_lowercase()) else { return };
    let status = response.status.to_string();
    let documented = operation["responses"].get(&status).unwrap_or_else(|| {
        panic!("{method} {path} answered {status}: {UNDOCUMENTED}");
    });
    let Some(examples) = documented["content"].get("application/problem+json") else { return };
    let code = response.json()["code"].as_str().unwrap_or_default().to_owned();
    assert!(
        examples["examples"].get(&code).is_some(),
        "{method} {path} answered {status} {code}: {UNDOCUMENTED}"
    );
}

/// Loads the document once, since all servers have the same document. A stopping server may send no response.
fn document(client: &Client) -> Option<&'static Value> {
    if let Some(document) = DOCUMENT.get() {
        return Some(document);
    }
    let response = client.request("GET", "/openapi.json").try_response().ok()?;
    (response.status == 200).then(|| DOCUMENT.get_or_init(|| response.json()))
}

static DOCUMENT: OnceLock<Value> = OnceLock::new();
const UNDOCUMENTED: &str = "the OpenAPI document does not name this response";
