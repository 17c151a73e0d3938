//! Endpoints about the service itself: a liveness check, the OpenAPI document, and the files of the transparency log
//! (C2SP tlog-tiles). The log has `/log/checkpoint`, the tiles below `/log/tile/`, and the public key at `/log/`. These
//! files are public, so all HTTP caches may keep them.

use std::collections::BTreeMap;

use actix_web::{
    HttpRequest, HttpResponse,
    http::header::{self, HeaderValue},
    web::{self, Bytes, Json},
};
use schemars::JsonSchema;
use sealpost_service::Error;
use serde::Serialize;
use serde_json::{Value, json};

use crate::{
    endpoint::Endpoint,
    openapi::{Operation, Tag},
    response::{Problem, StaticContent},
    state::ApiState,
};

/// Confirms that the server is alive.
#[derive(JsonSchema, Serialize)]
struct Pong {
    /// Always `ok`.
    #[schemars(extend("const" = "ok"))]
    status: &'static str,
}

async fn ping() -> Json<Pong> {
    Json(Pong { status: "ok" })
}

pub(super) fn ping_endpoint() -> Endpoint {
    let operation = Operation::new::<Pong>("checkLiveness", json!({ "status": "ok" })).describe(
        Tag::Service,
        "Check that the server is alive",
        "Needs no credentials and no database.",
    );
    Endpoint { operation, route: web::route().to(ping) }
}

/// Serves the document that `render` creates from the base URL. The document is rendered once, at the first request.
pub(super) fn document_endpoint(render: fn(&str) -> Value) -> Endpoint {
    let document = move |app: web::Data<ApiState>, request: HttpRequest| async move {
        let document = || StaticContent::json(render(&app.settings.base_url).to_string());
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

async fn log_key(app: web::Data<ApiState>) -> Result<HttpResponse, Problem> {
    let key =
        app.sealpost.transparency_log.key().await.map(|key| key.map(|key| format!("{key}\n")));
    file(key, TEXT, SOON)
}

async fn log_checkpoint(app: web::Data<ApiState>) -> Result<HttpResponse, Problem> {
    file(app.sealpost.transparency_log.checkpoint().await, TEXT, SOON)
}

async fn log_tile(
    app: web::Data<ApiState>,
    path: web::Path<String>,
) -> Result<HttpResponse, Problem> {
    file(app.sealpost.transparency_log.file(&path).await, BYTES, NEVER)
}

fn file(
    content: Result<Option<impl Into<Bytes>>, Error>,
    content_type: HeaderValue,
    expiry: HeaderValue,
) -> Result<HttpResponse, Problem> {
    let content = content?.ok_or(Problem::NotFound { nearest: None })?;
    Ok(HttpResponse::Ok()
        .insert_header((header::CACHE_CONTROL, expiry))
        // Lets verifiers in a browser read the log from pages of any origin.
        .insert_header((header::ACCESS_CONTROL_ALLOW_ORIGIN, "*"))
        .insert_header((header::CONTENT_TYPE, content_type))
        .body(content.into()))
}

pub(super) fn log_key_endpoint() -> Endpoint {
    Endpoint { operation: log_operation("getLogKey"), route: web::route().to(log_key) }
}

pub(super) fn log_checkpoint_endpoint() -> Endpoint {
    Endpoint {
        operation: log_operation("getLogCheckpoint"),
        route: web::route().to(log_checkpoint),
    }
}

pub(super) fn log_tile_endpoint() -> Endpoint {
    Endpoint { operation: log_operation("getLogTile"), route: web::route().to(log_tile) }
}

/// Describes an endpoint that serves a file of the log. The OpenAPI document leaves out these endpoints, because C2SP
/// specifies the files of every log.
fn log_operation(id: &'static str) -> Operation {
    let description = "A file of the transparency log, as tlog-tiles specifies it.";
    Operation::new::<Value>(id, Value::Null)
        .describe(Tag::Service, "Get a file of the transparency log", description)
        .leave_out()
}

const BYTES: HeaderValue = HeaderValue::from_static("application/octet-stream");
const TEXT: HeaderValue = HeaderValue::from_static("text/plain; charset=utf-8");
/// `Cache-Control` for tiles, which change only if an operator restarts the log. The operator then empties the caches.
const NEVER: HeaderValue = HeaderValue::from_static("public, max-age=31536000, immutable");
const SOON: HeaderValue = HeaderValue::from_static("public, max-age=2");
