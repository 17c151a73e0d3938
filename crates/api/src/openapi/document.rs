//! Assembles the OpenAPI document from the endpoints, the events and the shared components.

use actix_web::http::Method;
use serde_json::{Map, Value, json};

use super::{
    document_head::DocumentHead,
    event,
    operation::{Operation, Tag, media_type},
    parts, responses,
    schemas::Schemas,
};
use crate::endpoint::{Endpoint, Row};

/// Renders the OpenAPI document of a service at `base_url`, with the given endpoints.
pub(crate) fn document(
    base_url: &str,
    head: &DocumentHead,
    endpoints: impl IntoIterator<Item = Row>,
) -> Value {
    let mut schemas = Schemas::new();
    let mut paths = Map::new();
    for Row { method, path, endpoint: Endpoint { operation, .. } } in endpoints {
        let item = paths.entry(path).or_insert_with(|| json!({}));
        if let Some(operations) = item.as_object_mut() {
            let name = method.as_str().to_ascii_lowercase();
            operations.insert(name, render(&operation, &method, &mut schemas));
        }
    }
    let webhooks = head.has_events.then(|| event::webhooks(&mut schemas));
    let mut document = json!({
        "openapi": "3.1.0",
        "info": {
            "title": head.title,
            "version": env!("CARGO_PKG_VERSION"),
            "summary": head.summary,
            "description": head.description,
            "contact": { "name": "The operator of this service", "url": base_url },
            "license": { "name": "Apache 2.0", "identifier": "Apache-2.0" },
        },
        "servers": [{ "url": head.server }],
        "externalDocs": { "url": format!("{base_url}/docs"), "description": "This document as web pages" },
        "tags": tags(head.tags),
        "paths": paths,
        "webhooks": webhooks,
        "components": parts::components(base_url, head, schemas),
    });
    parts::drop_nulls(&mut document);
    document
}

fn tags(tags: &[Tag]) -> Vec<Value> {
    let tag = |tag: &Tag| json!({ "name": tag, "description": tag.description() });
    tags.iter().map(tag).collect()
}

/// Renders the OpenAPI operation object of an endpoint, and adds the schemas that it uses to `schemas`.
pub(super) fn render(operation: &Operation, method: &Method, schemas: &mut Schemas) -> Value {
    let about_api_tokens = operation.credentials.about_api_tokens();
    let description: Vec<_> =
        [operation.description].into_iter().chain(about_api_tokens.as_deref()).collect();
    let mut object = json!({
        "operationId": operation.id,
        "tags": [operation.tag],
        "summary": operation.summary,
        "description": description.join("\n\n"),
        "x-repeatable": operation.is_repeatable.then_some(true),
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
    let content = json!({ "application/json": media_type(&schema, &body.examples) });
    Some(json!({ "required": body.is_required, "content": content }))
}
