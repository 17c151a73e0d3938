//! `POST /v1/account/export`: responds with everything that is stored about an account.

use actix_web::{HttpRequest, HttpResponse, web};
use schemars::JsonSchema;
use sealpost_domain::{Code, Refusal};
use sealpost_service::AccountExport;
use serde_json::{Value, json};

use crate::{
    endpoint::Endpoint,
    openapi::{Operation, Tag},
    request::{Fields, RequestBody, SessionRequest, request_source},
    response::{Problem, ask_in_session, exported_account},
    state::ApiState,
    throttle::{self, verify_login_secret},
};

/// The login secret, which confirms that the owner of the account sends the request.
#[derive(JsonSchema)]
struct ExportRequest {
    /// The login secret of the account.
    #[schemars(length(min = 1))]
    login_secret: String,
}

impl RequestBody for ExportRequest {
    fn read(fields: &mut Fields) -> Result<Self, Refusal> {
        fields.require(&["login_secret"])?;
        Ok(Self { login_secret: fields.text("login_secret")? })
    }
}

async fn export(
    app: web::Data<ApiState>,
    http: HttpRequest,
    request: SessionRequest<ExportRequest>,
) -> Result<HttpResponse, Problem> {
    throttle::admit_session(&app, &request).await?;
    let begun = ask_in_session(&app, request, async |sealpost, session, body| {
        let secret = body.login_secret;
        verify_login_secret(&app, &http, session, &secret, "exporting the account").await?;
        Ok(sealpost.begin_export(session.with_secret(secret, request_source(&app, &http))).await?)
    });
    Ok(exported_account(&app, begun.await?.into_inner()))
}

pub(in crate::endpoints) fn endpoint() -> Endpoint {
    Endpoint { operation: operation(), route: web::route().to(export) }
}

fn operation() -> Operation {
    Operation::new::<AccountExport>("exportAccount", example())
        .describe(Tag::Sessions, "Export the account", DESCRIPTION)
        .session()
        .body::<ExportRequest>(vec![(
            "",
            json!({ "login_secret": "ls_t8K8ofmMkUDSQ5RpLi2vPj4yaRQnxMyT20raHg9fo8e4cHOBB" }),
        )])
        .refuses(&[Code::MissingField, Code::InvalidField, Code::RateLimitExceeded])
}

fn example() -> Value {
    json!({
        "account_id": ACCOUNT,
        "exported_at": "2026-11-21T09:00:00.000Z",
        "created_at": "2026-11-21T06:56:38.496Z",
        "partner": null,
        "sessions": [{
            "name": "9f2c1e4ab0d35577",
            "started_at": "2026-11-21T06:56:38.596Z",
            "last_used_at": "2026-11-21T08:00:00.000Z",
            "expires_at": "2026-11-21T18:56:38.596Z",
            "client_address": "192.0.2.7",
            "user_agent": "sealpost-python/0.1",
        }],
        "api_tokens": [],
        "keys": [key()],
        "activity": [{
            "at": "2026-11-21T09:00:00.000Z",
            "kind": "account_exported",
            "actor": "session:9f2c1e4ab0d35577",
            "client_address": "192.0.2.7",
            "detail": null,
        }],
        "envelopes": [{
            "sender": KEY,
            "envelope_id": "env_01m7ye92t9f5vargkky48cczpv",
            "recipient": "ak_01m7ye92k0ejgs32r4n1j3x7m3",
            "sent_at": "2026-11-21T06:56:38.729Z",
            "state": "notified",
            "thread": "order:7",
            "reply_to": null,
            "type": "text/plain",
        }],
    })
}

fn key() -> Value {
    let window = |limit: u32, resets_at: &str| json!({ "limit": limit, "used": 1, "remaining": limit - 1, "resets_at": resets_at });
    json!({
        "api_key_id": KEY,
        "account_id": ACCOUNT,
        "did": "did:key:z6MksVWKWtyHa9uFEG7z7nJVe4VsP3EJ4fYnNpc95ohVKNrR",
        "status": "active",
        "plan": "explorer",
        "label": "Alice",
        "handle": "alice",
        "created_at": "2026-11-21T06:56:38.496Z",
        "throughput_per_second": 10,
        "allow_overage": false,
        "usage": {
            "minute": window(20, "2026-11-21T06:57:00.000Z"),
            "day": window(1000, "2026-11-22T00:00:00.000Z"),
            "month": window(1000, "2026-12-01T00:00:00.000Z"),
        },
        "governance": { "blocked": false, "reasons": [] },
        "webhooks": [],
        "badges": [],
        "policy": { "accept": "anyone", "receipts": "notified", "listed": true, "allowed": [], "blocked": [] },
        "daily_counts": [{ "day": "2026-11-21T00:00:00.000Z", "sent": 1, "received": 0, "delivered": 0 }],
    })
}

const ACCOUNT: &str = "acct_01m7ye92k0e5wsvs5qjndehdka";
const KEY: &str = "ak_01m7ye92jjfq1s4zr4gcymmdgn";

const DESCRIPTION: &str = "\
Responds with one JSON object of everything that is stored about the account: keys with usage, governance, webhooks, \
badges, policies and daily counts, sessions, API tokens, activity, and the metadata of sent envelopes. It has no \
messages and no secrets. The object is written while it is read, in portions of at most 500 rows, so it is no snapshot: \
rows that change meanwhile may be missing. If the service fails meanwhile, the response ends early and is no valid \
JSON. Needs the login secret as well as a session. Limited per session and account; wrong secrets are limited per client \
address.";
