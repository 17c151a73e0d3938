//! The API as an OpenAPI 3.1 document, generated from the code: paths from the table of routes, schemas from the types
//! that are serialised, refusals from the table of codes. What is written by hand is what an operation means, one file
//! for each in [`operations`].

mod event;
mod operation;
mod operations;
mod parts;
mod responses;
mod schemas;

use actix_web::http::Method;
use serde_json::{Map, Value, json};

pub(crate) use operation::{Group, Operation};
use schemas::Schemas;

use crate::http::served;

/// The document of the API as it is served at this address.
pub fn openapi(base_url: &str) -> Value {
    let served = served().into_iter().map(|endpoint| (endpoint.method, endpoint.path));
    document(base_url, &served.collect::<Vec<_>>())
}

/// The document of a service with this address, over these endpoints.
fn document(base_url: &str, endpoints: &[(Method, &'static str)]) -> Value {
    let mut schemas = Schemas::new();
    let mut paths = Map::new();
    for (method, path) in endpoints {
        if let Some(operation) = find(method, path) {
            let item = paths.entry(*path).or_insert_with(|| json!({}));
            if let Some(methods) = item.as_object_mut() {
                methods.insert(operation.verb(), operation.render(&mut schemas));
            }
        }
    }
    let webhooks = event::webhooks(&mut schemas);
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Sealpost",
            "version": env!("CARGO_PKG_VERSION"),
            "summary": "Decentralised identity and sealed messaging.",
            "description": ABOUT,
            "license": { "name": "Apache 2.0", "identifier": "Apache-2.0" },
        },
        "servers": [{ "url": base_url }],
        "externalDocs": { "url": format!("{base_url}/docs"), "description": "The same as pages" },
        "tags": Group::ALL.map(|group| json!({ "name": group.name(), "description": group.about() })),
        "paths": paths,
        "webhooks": webhooks,
        "components": parts::components(base_url, schemas),
    })
}

/// What is written of an endpoint.
pub(crate) fn find(method: &Method, path: &str) -> Option<Operation> {
    operations::all().into_iter().find(|known| known.method == *method && known.path == path)
}

/// Each operation that is written of, by method and path.
#[cfg(test)]
pub(crate) fn written() -> Vec<(Method, &'static str)> {
    operations::all().into_iter().map(|known| (known.method, known.path)).collect()
}

const ABOUT: &str = "\
Activate an identity, send sealed envelopes from one API key to another, and learn of them through a signed webhook. \
Requests and answers are JSON; success is 200. A refusal is a problem document (RFC 9457) whose `code` never changes \
and whose `type` leads to a page that says what to do. Unknown fields of a body are ignored, and answers may gain \
fields. Every answer carries `X-Request-Id`, which is yours where you sent one; name it when you report something.";

#[cfg(test)]
mod tests;
