//! Checks that the OpenAPI document contains every response of the tests, with its status and error code.
//!
//! The test suite `tests/openapi` checks the schemas instead.

use std::sync::OnceLock;

use serde_json::Value;

use super::{Client, Response};

/// Panics if the OpenAPI document describes the endpoint, but not this response.
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

/// Loads the OpenAPI document once, because it is the same on all servers. `None` if the server sends no document, for
/// example because it is stopping.
fn document(client: &Client) -> Option<&'static Value> {
    if let Some(document) = DOCUMENT.get() {
        return Some(document);
    }
    let response = client.request("GET", "/openapi.json").try_response().ok()?;
    (response.status == 200).then(|| DOCUMENT.get_or_init(|| response.json()))
}

static DOCUMENT: OnceLock<Value> = OnceLock::new();
const UNDOCUMENTED: &str = "the OpenAPI document does not name this response";
