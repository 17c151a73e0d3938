//! `GET /openapi.json`: serves the OpenAPI document of this API.

use std::collections::BTreeMap;

use actix_web::{HttpRequest, web};
use serde_json::{Value, json};

use crate::{
    endpoint::Endpoint,
    openapi::{Operation, Tag},
    response::StaticContent,
    state::ApiState,
};

/// Serves the document that `render` creates from the base URL. The document is rendered once, at the first request.
pub(in crate::endpoints) fn endpoint(render: fn(&str) -> Value) -> Endpoint {
    let document = move |app: web::Data<ApiState>, request: HttpRequest| async move {
        let document = || StaticContent::json(render(&app.base_url).to_string());
        app.document.get_or_init(document).respond(&request)
    };
    let example = json!({ "openapi": "3.1.0", "info": { "title": "Sealpost" }, "paths": {} });
    let operation = Operation::new::<BTreeMap<String, Value>>("getOpenapiDocument", example)
        .describe(
            Tag::Service,
            "Get this document",
            "The API as an OpenAPI 3.1 document. It changes only with the version of the service.",
        );
    Endpoint { operation, route: web::route().to(document) }
}
