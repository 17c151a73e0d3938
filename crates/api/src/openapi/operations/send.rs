//! `POST /v1/channel/send`.

use sealpost_domain::Code;
use sealpost_service::{Send, Sent};
use serde_json::json;

use super::{Group, Operation};

pub(super) fn operation() -> Operation {
    let answer = json!({
        "envelope_id": "env_01m7ye92t9f5vargkky48cczpv",
        "envelope_hash": "sha256:ee7898977eef1c7398d2e117b9600d182af9fdee777bbc231b5c19fca6bce940",
        "status": "delivered",
        "sender": "ak_01m7ye92jjfq1s4zr4gcymmdgn",
        "recipient": "ak_01m7ye92k0ejgs32r4n1j3x7m3",
        "encryption": { "algorithm": "HPKE-XWing-HKDF-SHA256-AES-256-GCM-Ed25519", "status": "sealed" },
        "metadata": { "payload_size_bytes": 1158, "timestamp": "2026-11-21T06:56:38.729Z" },
    });
    Operation::post::<Sent>("/v1/channel/send", "send", answer)
        .says(Group::Channel, "Send a sealed message", ABOUT)
        .acting_as_key()
        .heeding_idempotency()
        .takes::<Send>(vec![
            ("To a handle", json!({ "to": "bob", "message": "Meet me at noon." })),
            (
                "To an API key",
                json!({ "to": "ak_01m7ye92k0ejgs32r4n1j3x7m3", "message": "Meet me at noon." }),
            ),
        ])
        .leads_to(json!({ "open": {
            "operationId": "open",
            "description": "The recipient opens it.",
            "requestBody": { "envelope_id": "$response.body#/envelope_id" },
        } }))
        .refuses(&[
            Code::MissingField,
            Code::RawDidRejected,
            Code::GovernanceBlocked,
            Code::IdempotencyKeyReused,
            Code::MonthlyLimitExceeded,
        ])
}

const ABOUT: &str = "\
Seals the message to the recipient, signs it as the sender, and stores the envelope with its webhook deliveries: 200 \
means that both are durable, and that no crash loses them. `to` is an API key or a handle, with or without a leading \
`@`; a raw DID is refused. The message may have 256 KiB by default. Send an `Idempotency-Key` with whatever must not \
go out twice.";
