//! `POST /v1/webhooks`: an example for each action and its answer.

use sealpost_domain::Code;
use sealpost_service::{Manage, Managed};
use serde_json::{Value, json};

use super::{Group, Operation};

pub(super) fn operation() -> Operation {
    Operation::post::<Managed>("/v1/webhooks", "manageWebhooks", json!({ "webhooks": [webhook()] }))
        .or_gives("delete", json!({ "webhook_id": WEBHOOK, "deleted": true }))
        .or_gives("deliveries", deliveries())
        .or_gives("enable", enabled())
        .or_gives("recover", recovered())
        .or_gives(
            "redeliver",
            json!({ "webhook_id": WEBHOOK, "envelope_id": ENVELOPE, "outcome": "pending" }),
        )
        .or_gives("rotate_secret", rotated())
        .says(Group::Webhooks, "Manage webhooks and deliveries", ABOUT)
        .acting_as_key()
        .takes::<Manage>(actions())
        .refuses(&[Code::MissingField, Code::EnvelopeNotFound, Code::WebhookNotFound])
}

fn actions() -> Vec<(&'static str, Value)> {
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

fn deliveries() -> Value {
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

fn enabled() -> Value {
    let mut enabled = webhook();
    if let Some(members) = enabled.as_object_mut() {
        members.insert("due_now".to_owned(), json!(3));
    }
    enabled
}

fn recovered() -> Value {
    json!({ "webhook_id": WEBHOOK, "matched": 3, "recovered": 0, "more": false, "dry_run": true })
}

fn rotated() -> Value {
    json!({
        "webhook_id": WEBHOOK,
        "secret": "whsec_tyz4uy9luPVtr0QsFCb5J1YDaxnpdw63I5LuaTjY9Uc=",
        "retiring": [{ "expires_at": "2026-11-22T06:56:38.711Z" }],
    })
}

const ABOUT: &str = "\
`action` says what to do with the key's webhooks. `list` shows them without their secrets, oldest first. \
`deliveries` shows what waits and every attempt, newest first, page by page. `redeliver` sends one notice again; \
`recover` sends again all that failed since a time, up to 10,000 at once, or with `dry_run` counts it. `enable` sends \
again to a webhook that was disabled. `rotate_secret` gives a new secret, shown this once; notices carry the \
signatures of both for 24 hours.";
const ENVELOPE: &str = "env_01m7ye92t9f5vargkky48cczpv";
const WEBHOOK: &str = "wh_01m7ye92sqen1aazwgag1e22t1";
