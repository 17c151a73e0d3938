//! `POST /v1/did/status`: shows the state, the governance blocks and the usage of an API key.

use actix_web::web;
use schemars::JsonSchema;
use sealpost_domain::TokenScope;
use sealpost_service::{Access, KeyStanding, Purpose};
use serde_json::json;

use crate::{
    endpoint::Endpoint,
    openapi::{Operation, Tag},
    request::{KeyRequest, NoMembers},
    response::{LimitedResponse, ask_as_key},
    state::ApiState,
};

/// A request without parameters. The API key can be named in the body or in a header.
#[derive(JsonSchema)]
struct StatusRequest {}

async fn status(
    app: web::Data<ApiState>,
    request: KeyRequest<NoMembers>,
) -> LimitedResponse<KeyStanding> {
    ask_as_key(&app, request, ACCESS, Purpose::Manage, async |sealpost, caller, NoMembers| {
        sealpost.status(caller).await
    })
    .await
}

pub(in crate::endpoints) fn endpoint() -> Endpoint {
    Endpoint { operation: operation(), route: web::route().to(status) }
}

fn operation() -> Operation {
    let standing = json!({
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
        "waiting": 0,
        "waiting_more": false,
    });
    Operation::new::<KeyStanding>("getKeyStatus", standing)
        .describe(Tag::Identities, "Show the status of an API key", DESCRIPTION)
        .session_and_key(ACCESS)
        .optional_body::<StatusRequest>(vec![("", json!({}))])
}

const ACCESS: Access = Access::Scopes(&[TokenScope::Read]);

const DESCRIPTION: &str = "\
Shows status, plan, usage and limits of the key, its governance, and the envelopes that wait for a webhook. A blocked key may ask too. The request counts \
against the limits per minute and per day.";
