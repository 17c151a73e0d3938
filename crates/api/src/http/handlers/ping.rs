//! `GET /v1/ping`: whether anybody is there. No look-up of any kind.

use actix_web::web::Json;
use schemars::JsonSchema;
use serde::Serialize;

/// Somebody is there.
#[derive(JsonSchema, Serialize)]
pub(crate) struct Pong {
    /// Always `ok`.
    #[schemars(extend("const" = "ok"))]
    status: &'static str,
}

pub(crate) async fn ping() -> Json<Pong> {
    Json(Pong { status: "ok" })
}
