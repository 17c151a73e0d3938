//! `GET /v1/ping`.

use serde_json::json;

use super::{Group, Operation};
use crate::http::handlers::Pong;

pub(super) fn operation() -> Operation {
    Operation::get::<Pong>("/v1/ping", "ping", json!({ "status": "ok" })).says(
        Group::Service,
        "See whether anybody is there",
        "Asks neither for credentials nor the database.",
    )
}
