//! Assembles the OpenAPI document from the endpoints, the events and the shared components.

use actix_web::http::Method;
use serde_json::{Map, Value, json};

use super::{
    event,
    operation::{Operation, Tag},
    parts, responses,
    schemas::Schemas,
};

/// Renders the OpenAPI document of a service at `base_url`, with the given endpoints.
pub(crate) fn document(
    base_url: &str,
    endpoints: impl IntoIterator<Item = (Method, &'static str, Operation)>,
) -> Value {
    let mut schemas = Schemas::new();
    let mut paths = Map::new();
    for (method, path, operation) in endpoints {
        let item = paths.entry(path).or_insert_with(|| json!({}));
        if let Some(operations) = item.as_object_mut() {
            let name = method.as_str().to_ascii_lowercase();
            operations.insert(name, render(&operation, &method, &mut schemas));
        }
    }
    let webhooks = event::webhooks(&mut schemas);
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Sealpost",
            "version": env!("CARGO_PKG_VERSION"),
            "summary": "Decentralised identity and sealed messaging.",
            "description": DESCRIPTION,
            "contact": { "name": "The operator of this service", "url": base_url },
            "license": { "name": "Apache 2.0", "identifier": "Apache-2.0" },
        },
        "servers": [{ "url": base_url }],
        "externalDocs": { "url": format!("{base_url}/docs"), "description": "This document as web pages" },
        "tags": Tag::ALL.map(|tag| json!({ "name": tag.name(), "description": tag.description() })),
        "paths": paths,
        "webhooks": webhooks,
        "components": parts::components(base_url, schemas),
    })
}

/// Renders the OpenAPI operation object of an endpoint, and adds the schemas that it uses to `schemas`.
pub(super) fn render(operation: &Operation, method: &Method, schemas: &mut Schemas) -> Value {
    let about_api_tokens = operation.credentials.about_api_tokens();
    let description: Vec<_> =
        [operation.description].into_iter().chain(about_api_tokens.as_deref()).collect();
    let mut object = json!({
        "operationId": operation.id,
        "tags": [operation.tag.name()],
        "summary": operation.summary,
        "description": description.join(" "),
        "security": operation.credentials.security(),
        "parameters": parts::parameters(operation),
        "requestBody": request_body(operation, schemas),
        "responses": responses::render(operation, method, schemas),
    });
    parts::drop_nulls(&mut object);
    object
}

fn request_body(operation: &Operation, schemas: &mut Schemas) -> Option<Value> {
    let body = operation.body.as_ref()?;
    let schema = schemas.request(&body.schema, operation.credentials.has_key());
    let content = json!({ "application/json": body.render(&schema) });
    Some(json!({ "required": body.is_required, "content": content }))
}

const DESCRIPTION: &str = "\
Activate an identity, send sealed envelopes from one API key to another, and get signed webhook events about them. \
Requests and responses are JSON; success is 200. An error response is a problem document (RFC 9457). Its `code` never \
changes, and its `type` is the address of a page with the remedy. Unknown fields of a body are refused, and responses \
may gain fields. Each response carries `X-Request-Id`; name this id in reports.";
