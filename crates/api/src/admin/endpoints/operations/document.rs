//! `GET /admin/v1/openapi.json`: serves the OpenAPI document of the API for operators.

use std::collections::BTreeMap;

use actix_web::{HttpRequest, web};
use serde_json::{Value, json};

use crate::{
    admin::state::AdminState,
    endpoint::Endpoint,
    openapi::{Operation, Tag},
    response::StaticContent,
};

/// Serves the document that `render` creates from two URLs: the public URL, and the URL of the operations address.
pub(in crate::admin::endpoints) fn endpoint(render: fn(&str, &str) -> Value) -> Endpoint {
    let document = move |admin: web::Data<AdminState>, request: HttpRequest| async move {
        let document = || StaticContent::json(render(&admin.api.base_url, &admin.url).to_string());
        admin.document.get_or_init(document).respond(&request)
    };
    Endpoint { operation: operation(), route: web::route().to(document) }
}

fn operation() -> Operation {
    let document =
        json!({ "openapi": "3.1.0", "info": { "title": "Sealpost for operators" }, "paths": {} });
    Operation::new::<BTreeMap<String, Value>>("getAdminDocument", document).describe(
        Tag::Operations,
        "Get this document",
        "The API for operators as an OpenAPI 3.1 document. Needs no credentials.",
    )
}
