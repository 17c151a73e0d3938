//! Examples of each action and its response, for the OpenAPI document.

use serde_json::{Value, json};

pub(super) fn actions() -> Vec<(&'static str, Value)> {
    vec![
        ("list", json!({ "action": "list" })),
        ("delete", json!({ "action": "delete", "webhook_id": WEBHOOK })),
        (
            "deliveries",
            json!({ "action": "deliveries", "webhook_id": WEBHOOK, "state": "failed", "limit": 20 }),
        ),
        ("enable", json!({ "action": "enable", "webhook_id": WEBHOOK })),
        (
            "recover",
            json!({ "action": "recover", "webhook_id": WEBHOOK, "since": "2026-11-21T00:00:00Z", "dry_run": true }),
        ),
        (
            "redeliver",
            json!({ "action": "redeliver", "webhook_id": WEBHOOK, "envelope_id": ENVELOPE }),
        ),
        ("rotate_secret", json!({ "action": "rotate_secret", "webhook_id": WEBHOOK })),
    ]
}

pub(super) fn list() -> Value {
    json!({ "webhooks": [webhook()] })
}

pub(super) fn deleted() -> Value {
    json!({ "webhook_id": WEBHOOK, "deleted": true })
}

pub(super) fn deliveries() -> Value {
    json!({
        "deliveries": [{
            "envelope_id": ENVELOPE,
            "attempt": 1,
            "at": "2026-11-21T06:56:38.757Z",
            "outcome": "failed",
            "status_code": 503,
            "error": "http_status",
            "duration_ms": 12,
            "next_attempt_at": "2026-11-21T06:56:44.102Z",
            "response": "come back later",
        }],
        "next_cursor": null,
    })
}

pub(super) fn enabled() -> Value {
    let mut enabled = webhook();
    if let Some(members) = enabled.as_object_mut() {
        members.insert("due_now".to_owned(), json!(3));
    }
    enabled
}

pub(super) fn recovered() -> Value {
    json!({ "webhook_id": WEBHOOK, "matched": 3, "recovered": 0, "more": false, "dry_run": true })
}

pub(super) fn redelivered() -> Value {
    json!({ "webhook_id": WEBHOOK, "envelope_id": ENVELOPE, "outcome": "pending" })
}

pub(super) fn rotated() -> Value {
    json!({
        "webhook_id": WEBHOOK,
        "secret": "whsec_tyz4uy9luPVtr0QsFCb5J1YDaxnpdw63I5LuaTjY9Uc=",
        "retiring": [{ "expires_at": "2026-11-22T06:56:38.711Z" }],
    })
}

fn webhook() -> Value {
    json!({
        "webhook_id": WEBHOOK,
        "api_key_id": "ak_01m7ye92k0ejgs32r4n1j3x7m3",
        "url": "https://bob.example.com/sealpost",
        "events": ["envelope.received"],
        "status": "enabled",
        "disabled_reason": null,
        "failing_since": "2026-11-21T06:56:38.757Z",
        "created_at": "2026-11-21T06:56:38.711Z",
        "last_success_at": null,
        "last_failure": { "at": "2026-11-21T06:56:38.757Z", "error": "dns" },
    })
}

const ENVELOPE: &str = "env_01m7ye92t9f5vargkky48cczpv";
const WEBHOOK: &str = "wh_01m7ye92sqen1aazwgag1e22t1";
