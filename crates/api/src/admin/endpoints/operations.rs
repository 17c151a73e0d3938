//! Operator endpoints for webhooks and for the service as a whole: audit trail, statistics and OpenAPI document.

use std::collections::BTreeMap;

use actix_web::{HttpRequest, web};
use schemars::JsonSchema;
use sealpost_domain::{Code, WebhookId};
use sealpost_service::{AuditView, StatsView, WebhookView};
use serde::Serialize;
use serde_json::{Value, json};

use crate::{
    admin::{
        request::{PageLimit, Reason, act, query},
        state::AdminState,
    },
    endpoint::Endpoint,
    openapi::{Operation, Tag},
    request::{NoMembers, NumberUpTo, request_body},
    response::StaticContent,
};

request_body! {
    /// The webhook to disable.
    struct DisableWebhookRequest {
        /// The id of the webhook.
        webhook_id: WebhookId,
        /// The reason, for the audit trail.
        reason: Reason,
    }
}

request_body! {
    /// The entries to show.
    struct ListAuditRequest {
        /// Shows the entries with a higher number than this, lowest numbers first. 0 starts at the first entry. If
        /// omitted, shows the newest entries.
        after: Option<u32>,
        /// The maximum number of entries, 100 by default.
        #[schemars(default)]
        limit: PageLimit,
    }
}

/// Entries of the audit trail.
#[derive(JsonSchema, Serialize)]
struct AuditPage {
    /// The entries, in the order of their numbers.
    entries: Vec<AuditView>,
}

/// `POST /admin/v1/webhooks/disable`
pub(super) fn disable_webhook() -> Endpoint {
    let webhook = "wh_01m7ye92sqen1aazwgag1e22t1";
    let disabled = json!({
        "webhook_id": webhook,
        "api_key_id": "ak_01m7ye92k0ejgs32r4n1j3x7m3",
        "url": "https://receiver.example/hook",
        "events": ["envelope.received"],
        "description": null,
        "paused": false,
        "status": "disabled",
        "disabled_reason": null,
        "failing_since": null,
        "created_at": "2026-11-21T06:56:38.596Z",
        "last_success_at": null,
        "last_failure": null,
        "connected": null,
    });
    let body = json!({ "webhook_id": webhook, "reason": "Receiver asked for it" });
    let operation = Operation::new::<WebhookView>("disableWebhook", disabled)
        .describe(
            Tag::Webhooks,
            "Disable a webhook",
            "Disables a webhook. Its deliveries wait until the owner enables it again.",
        )
        .body::<DisableWebhookRequest>(vec![("", body)])
        .refuses(&[Code::ActionRefused]);
    act(
        operation,
        |operator, body: DisableWebhookRequest| operator.disable_webhook(&body.webhook_id),
        |body| &body.reason,
    )
}

/// `POST /admin/v1/audit/list`
pub(super) fn list_audit() -> Endpoint {
    let entry = json!({
        "number": 7,
        "at": "2026-11-21T06:56:38.596Z",
        "actor": "console:alice",
        "action": "plan.set",
        "subject": "ak_01m7ye92k0ejgs32r4n1j3x7m3",
        "detail": "{\"from\":\"explorer\",\"operator\":{\"client_address\":\"192.0.2.7\"},\"reason\":\"Invoice 2026-118\",\"to\":\"builder\"}",
        "hash": "8f434346648f6b96df89dda901c5176b10a6d83961dd3c1ac88b59b2dc327aa4",
    });
    let operation = Operation::new::<AuditPage>("listAudit", json!({ "entries": [entry] }))
        .describe(
            Tag::Operations,
            "List the audit trail",
            "Lists entries of the audit trail in the order of their numbers.",
        )
        .optional_body::<ListAuditRequest>(vec![
            ("The newest entries", json!({})),
            ("From the first entry", json!({ "after": 0, "limit": 1000 })),
        ])
        .refuses(&[Code::InvalidField]);
    query(operation, |operator, ListAuditRequest { after, limit: NumberUpTo(limit) }| {
        let entries = match after {
            Some(after) => operator.audit_entries(after.into(), limit)?,
            None => operator.newest_audit_entries(limit)?,
        };
        Ok(AuditPage { entries })
    })
}

/// `POST /admin/v1/stats`
pub(super) fn stats() -> Endpoint {
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
    let operation = Operation::new::<StatsView>("getStats", stats)
        .describe(
            Tag::Operations,
            "Show the state of the service",
            "Counts the rows of the service, and lists failing webhooks, housekeeping tasks and nodes. Reads every key and webhook, so do not call it every second.",
        );
    query(operation, |operator, NoMembers| operator.stats())
}

/// `GET /admin/v1/openapi.json`: serves the document that `render` creates from two URLs: the public URL of the
/// service, and the URL at which this API is served.
pub(super) fn document(render: fn(&str, &str) -> Value) -> Endpoint {
    let document = move |admin: web::Data<AdminState>, request: HttpRequest| async move {
        let document =
            || StaticContent::json(render(&admin.api.settings.base_url, &admin.url).to_string());
        admin.document.get_or_init(document).respond(&request)
    };
    let example =
        json!({ "openapi": "3.1.0", "info": { "title": "Sealpost for operators" }, "paths": {} });
    let operation = Operation::new::<BTreeMap<String, Value>>("getAdminDocument", example)
        .describe(
            Tag::Operations,
            "Get this document",
            "The API for operators as an OpenAPI 3.1 document. Needs no credentials.",
        );
    Endpoint { operation, route: web::route().to(document) }
}
