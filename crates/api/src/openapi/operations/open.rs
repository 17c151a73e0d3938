//! `POST /v1/channel/open`.

use schemars::JsonSchema;
use sealpost_domain::Code;
use sealpost_service::Opened;
use serde_json::json;

use super::{Group, Operation};

pub(super) fn operation() -> Operation {
    let answer = json!({
        "envelope_id": "env_01m7ye92t9f5vargkky48cczpv",
        "envelope_hash": "sha256:ee7898977eef1c7398d2e117b9600d182af9fdee777bbc231b5c19fca6bce940",
        "sender": "ak_01m7ye92jjfq1s4zr4gcymmdgn",
        "message": "Meet me at noon.",
        "encryption": { "algorithm": "HPKE-XWing-HKDF-SHA256-AES-256-GCM-Ed25519", "status": "sealed" },
        "metadata": { "payload_size_bytes": 1158, "timestamp": "2026-11-21T06:56:38.729Z" },
        "opened_at": "2026-11-21T06:56:38.786Z",
    });
    Operation::post::<Opened>("/v1/channel/open", "open", answer)
        .says(Group::Channel, "Open an envelope", ABOUT)
        .acting_as_key()
        .takes::<Body>(vec![("", json!({ "envelope_id": "env_01m7ye92t9f5vargkky48cczpv" }))])
        .refuses(&[Code::MissingField, Code::GovernanceBlocked, Code::EnvelopeNotFound])
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "it gives a body its form; the handler reads the field itself")]
struct Body {
    /// Which envelope: the `envelope_id` of the notice.
    #[schemars(length(min = 1))]
    envelope_id: String,
}

const ABOUT: &str = "\
Gives the recipient the message, after hash and signature of the envelope were verified. There is no inbox to list: the \
id comes by webhook. An envelope may be opened as often as it is kept, which is 30 days by default; `opened_at` is the \
first time. Somebody else's envelope looks like none.";
