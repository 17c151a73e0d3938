//! `POST /v1/webhooks/register`.

use sealpost_domain::Code;
use sealpost_service::{Register, Registered};
use serde_json::json;

use super::{Group, Operation};

pub(super) fn operation() -> Operation {
    let answer = json!({
        "webhook_id": "wh_01m7ye92sqen1aazwgag1e22t1",
        "api_key_id": "ak_01m7ye92k0ejgs32r4n1j3x7m3",
        "url": "https://bob.example.com/sealpost",
        "events": ["envelope.received"],
        "secret": "whsec_tyz4uy9luPVtr0QsFCb5J1YDaxnpdw63I5LuaTjY9Uc=",
        "status": "enabled",
        "created_at": "2026-11-21T06:56:38.711Z",
    });
    let body =
        json!({ "url": "https://bob.example.com/sealpost", "events": ["envelope.received"] });
    Operation::post::<Registered>("/v1/webhooks/register", "registerWebhook", answer)
        .says(Group::Webhooks, "Register a webhook", ABOUT)
        .acting_as_key()
        .takes::<Register>(vec![("", body)])
        .leads_to(json!({ "delete": {
            "operationId": "manageWebhooks",
            "description": "Deletes it.",
            "requestBody": { "action": "delete", "webhook_id": "$response.body#/webhook_id" },
        } }))
        .refuses(&[Code::MissingField, Code::GovernanceBlocked, Code::QuotaExceeded])
}

const ABOUT: &str = "\
Notices of the key's envelopes go to this URL from now on, signed with `secret`, which is shown this once. The URL must \
be https, with neither user information nor fragment, on port 443, 8443 or one from 1024 up, and must not lead to a \
private address, now or at any delivery. Its host is a full domain name or an IPv4 address; https to an IPv6 address is \
not supported, a name that leads to one is. A key may have 16 webhooks.";
