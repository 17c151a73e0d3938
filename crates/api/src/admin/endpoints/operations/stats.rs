//! `POST /admin/v1/stats`: counts accounts, keys, webhooks, envelopes and deliveries. Lists failing webhooks,
//! housekeeping tasks and nodes.

use actix_web::web;
use sealpost_service::StatsShown;
use serde_json::json;

use crate::{
    admin::request::ViewRequest,
    endpoint::Endpoint,
    openapi::{Operation, Tag},
    request::NoMembers,
    response::JsonResponse,
};

async fn stats(request: ViewRequest<NoMembers>) -> JsonResponse<StatsShown> {
    Ok(web::Json(request.ask(|operator, NoMembers| operator.stats()).await?))
}

pub(in crate::admin::endpoints) fn endpoint() -> Endpoint {
    Endpoint { operation: operation(), route: web::route().to(stats) }
}

fn operation() -> Operation {
    let stats = json!({
        "accounts": 120,
        "keys": { "active": 310, "revoked": 4 },
        "plans": { "builder": 12, "explorer": 298 },
        "webhooks": { "enabled": 305, "disabled": 2 },
        "envelopes": 48_211,
        "envelopes_more": false,
        "waiting_deliveries": 3,
        "waiting_deliveries_more": false,
        "sent_7d": 48_000,
        "delivered_7d": 47_950,
        "database_bytes": 210_763_776,
        "failing_webhooks": [],
        "housekeeping": [{
            "task": "envelopes",
            "node": "3f0c9a1be5d27740",
            "processed_to": "2026-11-22T06:56:38.596Z",
            "behind_seconds": 12,
        }],
        "nodes": [{
            "node": "3f0c9a1be5d27740",
            "host": "seal-1",
            "version": "0.1.0",
            "base_url": "https://seal.example.org",
            "started_at": "2026-11-21T06:56:38.596Z",
            "seen_at": "2026-11-22T06:56:40.102Z",
            "is_running": true,
        }],
    });
    Operation::new::<StatsShown>("getStats", stats)
        .describe(
            Tag::Operations,
            "Show the state of the service",
            "Counts the rows of the service, and lists failing webhooks, housekeeping tasks and nodes. Reads every key and webhook, so do not call it every second.",
        )
        .operator()
}
