//! The files of the transparency log (C2SP tlog-tiles): `/log/checkpoint`, the tiles below `/log/tile/`, and the public
//! key at `/log/`. The files are public, so all HTTP caches may keep them.

use actix_web::{
    HttpResponse,
    http::header::{self, HeaderValue},
    web::{self, Bytes},
};
use sealpost_service::Error;
use serde_json::Value;

use crate::{
    endpoint::Endpoint,
    openapi::{Operation, Tag},
    response::Problem,
    state::ApiState,
};

async fn key(app: web::Data<ApiState>) -> Result<HttpResponse, Problem> {
    let key =
        app.sealpost.transparency_log.key().await.map(|key| key.map(|key| format!("{key}\n")));
    file(key, TEXT, SOON)
}

async fn checkpoint(app: web::Data<ApiState>) -> Result<HttpResponse, Problem> {
    file(app.sealpost.transparency_log.checkpoint().await, TEXT, SOON)
}

async fn tile(app: web::Data<ApiState>, path: web::Path<String>) -> Result<HttpResponse, Problem> {
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

pub(in crate::endpoints) fn key_endpoint() -> Endpoint {
    Endpoint { operation: operation("getLogKey"), route: web::route().to(key) }
}

pub(in crate::endpoints) fn checkpoint_endpoint() -> Endpoint {
    Endpoint { operation: operation("getLogCheckpoint"), route: web::route().to(checkpoint) }
}

pub(in crate::endpoints) fn tile_endpoint() -> Endpoint {
    Endpoint { operation: operation("getLogTile"), route: web::route().to(tile) }
}

/// Describes an endpoint that serves a file of the log. The OpenAPI document leaves out these endpoints, because C2SP
/// specifies the files of every log.
fn operation(id: &'static str) -> Operation {
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
