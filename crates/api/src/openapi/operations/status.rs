//! `POST /v1/did/status`.

use schemars::JsonSchema;
use sealpost_service::KeyStanding;
use serde_json::json;

use super::{Group, Operation};

pub(super) fn operation() -> Operation {
    let answer = json!({
        "api_key_id": "ak_01m7ye92k0ejgs32r4n1j3x7m3",
        "label": "Bob",
        "handle": "bob",
        "did": "did:key:z6MksVWKWtyHa9uFEG7z7nJVe4VsP3EJ4fYnNpc95ohVKNrR",
        "status": "active",
        "plan": "explorer",
        "account_id": "acct_01m7ye92k0e5wsvs5qjndehdka",
        "created_at": "2026-11-21T06:56:38.496Z",
        "governance": { "blocked": false, "reasons": [] },
        "usage": {
            "minute": { "limit": 20, "used": 3, "remaining": 17, "resets_at": "2026-11-21T06:57:00.000Z" },
            "day": { "limit": 1000, "used": 3, "remaining": 997, "resets_at": "2026-11-22T00:00:00.000Z" },
            "month": { "limit": 1000, "used": 0, "remaining": 1000, "resets_at": "2026-12-01T00:00:00.000Z" },
        },
        "throughput_per_second": 10,
        "webhooks": 1,
    });
    Operation::post::<KeyStanding>("/v1/did/status", "status", answer)
        .says(Group::Identities, "See where a key stands", ABOUT)
        .acting_as_key()
        .may_take::<Body>(vec![("", json!({}))])
}

/// Nothing need be said.
#[derive(JsonSchema)]
struct Body {}

const ABOUT: &str = "\
The key's state, plan, usage and limits, and what governance says of it. A blocked key may ask too. The request counts \
against minute and day like any other.";
