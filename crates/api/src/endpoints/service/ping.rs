//! `GET /v1/ping`: a liveness check that needs neither credentials nor the database.

use actix_web::web::{self, Json};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::json;

use crate::{
    endpoint::Endpoint,
    openapi::{Operation, Tag},
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

pub(in crate::endpoints) fn endpoint() -> Endpoint {
    let operation = Operation::new::<Pong>("checkLiveness", json!({ "status": "ok" })).describe(
        Tag::Service,
        "Check that the server is alive",
        "Needs no credentials and no database.",
    );
    Endpoint { operation, route: web::route().to(ping) }
}
