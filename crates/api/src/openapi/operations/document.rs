//! `GET /openapi.json`.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{Group, Operation};

pub(super) fn operation() -> Operation {
    let example = json!({ "openapi": "3.1.0", "info": { "title": "Sealpost" }, "paths": {} });
    Operation::get::<BTreeMap<String, Value>>("/openapi.json", "document", example).says(
        Group::Service,
        "Get this document",
        "The API as OpenAPI 3.1. It changes with the service's version alone.",
    )
}
