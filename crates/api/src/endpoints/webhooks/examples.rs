//! Example values for the OpenAPI text of the webhook endpoints.

use serde_json::{Value, json};

/// Returns an example webhook without its secret.
pub(super) fn webhook() -> Value {
    json!({
        "webhook_id": WEBHOOK,
        "api_key_id": "ak_01m7ye92k0ejgs32r4n1j3x7m3",
        "url": "https://bob.example.com/sealpost",
        "events": ["envelope.received"],
        "description": "orders of the shop",
        "status": "enabled",
        "paused": false,
        "disabled_reason": null,
        "failing_since": "2026-11-21T06:56:38.757Z",
        "created_at": "2026-11-21T06:56:38.711Z",
        "last_success_at": null,
        "last_failure": { "at": "2026-11-21T06:56:38.757Z", "error": "tls", "error_detail": "invalid peer certificate: UnknownIssuer" },
        "connected": null,
    })
}

/// Returns an example body for actions with `webhook_id` as the only member.
pub(super) fn webhook_id() -> Value {
    json!({ "webhook_id": WEBHOOK })
}

pub(super) const ENVELOPE: &str = "env_01m7ye92t9f5vargkky48cczpv";
pub(super) const WEBHOOK: &str = "wh_01m7ye92sqen1aazwgag1e22t1";
