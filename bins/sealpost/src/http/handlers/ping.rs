//! `GET /v1/ping`: whether anybody is there. No look-up of any kind.

use actix_web::web::Json;
use serde::Serialize;

#[derive(Serialize)]
pub(crate) struct Pong {
    status: &'static str,
}

pub(crate) async fn ping() -> Json<Pong> {
    Json(Pong { status: "ok" })
}
