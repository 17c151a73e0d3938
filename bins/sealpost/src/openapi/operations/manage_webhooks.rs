//! `POST /v1/webhooks`: an example for each action.

use sealpost_domain::Code;
use sealpost_service::{Manage, Managed};
use serde_json::{Value, json};

use super::{Group, Operation};

pub(super) fn operation() -> Operation {
    Operation::post::<Managed>("/v1/webhooks", "manageWebhooks", listed())
        .or_gives(
            "deleted",
            json!({ "webhook_id": "wh_01m7ye92sqen1aazwgag1e22t1", "deleted": true }),
        )
        .says(Group::Webhooks, "Manage webhooks", ABOUT)
        .acting_as_key()
        .takes::<Manage>(vec![
            ("list", json!({ "action": "list" })),
            (
                "delete",
                json!({ "action": "delete", "webhook_id": "wh_01m7ye92sqen1aazwgag1e22t1" }),
            ),
        ])
        .refuses(&[Code::MissingField, Code::WebhookNotFound])
}

fn listed() -> Value {
    json!({ "webhooks": [{
        "webhook_id": "wh_01m7ye92sqen1aazwgag1e22t1",
        "api_key_id": "ak_01m7ye92k0ejgs32r4n1j3x7m3",
        "url": "https://bob.example.com/sealpost",
        "events": ["envelope.received"],
        "status": "enabled",
        "created_at": "2026-11-21T06:56:38.711Z",
        "last_success_at": null,
        "last_failure": { "at": "2026-11-21T06:56:38.757Z", "error": "dns" },
    }] })
}

const ABOUT: &str = "\
`action` says what to do with the key's registrations. They are shown without their secrets, oldest first.";
