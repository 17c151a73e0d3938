//! `/v1/account`: the activity, the export and the closing of an account.

use actix_web::{HttpRequest, HttpResponse, web};
use sealpost_domain::Code;
use sealpost_service::{AccountClosed, AccountExport, ActivityCursor, ActivityPage, ListActivity};
use serde_json::{Value, json};

use crate::{
    admission::{self, verify_login_secret},
    endpoint::Endpoint,
    openapi::{Operation, Tag},
    request::{NumberUpTo, SessionRequest, request_body, request_source},
    response::{JsonResponse, Problem, ask_in_session, exported_account},
    state::ApiState,
};

request_body! {
    /// The page to show.
    struct ActivityRequest {
        /// The maximum number of entries, 20 by default.
        #[schemars(default)]
        limit: NumberUpTo<100, 20>,
        /// The `next_cursor` of the previous page.
        #[schemars(with = "Option<String>")]
        cursor: Option<ActivityCursor>,
    }
}

async fn activity(
    app: web::Data<ApiState>,
    request: SessionRequest<ActivityRequest>,
) -> JsonResponse<ActivityPage> {
    admission::admit_session(&app, &request).await?;
    ask_in_session(&app, request, async |sealpost, session, body| {
        let ActivityRequest { limit: NumberUpTo(limit), cursor } = body;
        Ok(sealpost.accounts.activity(session, ListActivity { limit, cursor }).await?)
    })
    .await
}

pub(super) fn activity_endpoint() -> Endpoint {
    let page = json!({
        "entries": [
            {
                "at": "2026-11-21T06:58:02.114Z",
                "kind": "webhook_registered",
                "actor": "session:9f2c1e4ab0d35577",
                "client_address": "192.0.2.7",
                "detail": "wh_01m7ye92sqen1aazwgag1e22t1 of ak_01m7ye92k0ejgs32r4n1j3x7m3",
            },
            {
                "at": "2026-11-21T06:56:38.596Z",
                "kind": "login",
                "actor": "session:9f2c1e4ab0d35577",
                "client_address": "192.0.2.7",
                "detail": null,
            },
        ],
        "next_cursor": "AZyFnh6nd0mK1bW6Qm4y3A",
    });
    let operation = Operation::new::<ActivityPage>("listActivity", page)
        .describe(Tag::Sessions, "List the activity of the account", ACTIVITY)
        .repeatable()
        .session()
        .optional_body::<ActivityRequest>(vec![
            ("The newest entries", json!({})),
            ("The next page", json!({ "limit": 50, "cursor": "AZyFnh6nd0mK1bW6Qm4y3A" })),
        ])
        .refuses(&[Code::InvalidField, Code::RateLimitExceeded]);
    Endpoint { operation, route: web::route().to(activity) }
}

request_body! {
    /// The login secret, which confirms that the owner of the account sends the request.
    struct ExportRequest {
        /// The login secret of the account.
        #[schemars(length(min = 1))]
        login_secret: String,
    }
}

async fn export(
    app: web::Data<ApiState>,
    http: HttpRequest,
    request: SessionRequest<ExportRequest>,
) -> Result<HttpResponse, Problem> {
    admission::admit_session(&app, &request).await?;
    let begun = ask_in_session(&app, request, async |sealpost, session, body| {
        let secret = body.login_secret;
        verify_login_secret(&app, &http, session, &secret, "exporting the account").await?;
        Ok(sealpost
            .accounts
            .begin_export(session.with_secret(secret, request_source(&app, &http)))
            .await?)
    });
    Ok(exported_account(&app, begun.await?.into_inner()))
}

pub(super) fn export_endpoint() -> Endpoint {
    let operation = Operation::new::<AccountExport>("exportAccount", example())
        .describe(Tag::Sessions, "Export the account", EXPORT)
        .session()
        .body::<ExportRequest>(vec![(
            "",
            json!({ "login_secret": "ls_t8K8ofmMkUDSQ5RpLi2vPj4yaRQnxMyT20raHg9fo8e4cHOBB" }),
        )])
        .refuses(&[Code::MissingField, Code::InvalidField, Code::RateLimitExceeded]);
    Endpoint { operation, route: web::route().to(export) }
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
        "assessments": [],
        "attestations": [],
    })
}

request_body! {
    /// The login secret, which confirms that the owner of the account sends the request.
    struct CloseRequest {
        /// The login secret of the account.
        #[schemars(length(min = 1))]
        login_secret: String,
    }
}

pub(super) fn close_endpoint() -> Endpoint {
    let closed = json!({
        "account_id": "acct_01m7ye92k0e5wsvs5qjndehdka",
        "closed_at": "2026-11-21T06:56:38.596Z",
        "erased": true,
        "complete": true,
        "deleted": {
            "sessions": 2,
            "api_tokens": 1,
            "keys_revoked": 1,
            "webhooks": 1,
            "deliveries": 0,
            "handles": 1,
            "labels": 1,
            "activity": 14,
            "idempotency_keys": 3,
            "daily_counts": 30,
            "contacts": 2,
            "log_statements": 2,
        },
        "kept": [{
            "data": "envelopes sent by the account",
            "reason": "their recipients can still open them",
            "until": "the end of retention",
        }],
    });
    let operation = Operation::new::<AccountClosed>("closeAccount", closed)
        .describe(Tag::Sessions, "Close the account", CLOSE)
        .session()
        .body::<CloseRequest>(vec![(
            "",
            json!({ "login_secret": "ls_t8K8ofmMkUDSQ5RpLi2vPj4yaRQnxMyT20raHg9fo8e4cHOBB" }),
        )])
        .refuses(&[Code::MissingField, Code::InvalidField, Code::RateLimitExceeded]);
    operation.in_session(async |app, http, session, body: CloseRequest| {
        let secret = body.login_secret;
        verify_login_secret(app, http, session, &secret, "closing the account").await?;
        Ok(app
            .sealpost
            .accounts
            .close(session.with_secret(secret, request_source(app, http)))
            .await?)
    })
}

const ACTIVITY: &str = "\
Lists acts on the account, newest first: logins and failed logins with the client address, changes of secrets, \
keys and webhooks, and acts of operators. Sends are not included.\n\n\
- Entries are kept for 90 days by default, and at most 1,000 of each kind.\n\
- At most ten failed logins within an hour are recorded.\n\
- Limited per session and account.";
const ACCOUNT: &str = "acct_01m7ye92k0e5wsvs5qjndehdka";
const KEY: &str = "ak_01m7ye92jjfq1s4zr4gcymmdgn";
const EXPORT: &str = "\
Responds with one JSON object of everything that is stored about the account, without messages and secrets. \
Needs the login secret as well as a session.\n\n\
- The object has the keys with usage, governance, webhooks, badges, assessments, attestations, policies and daily \
counts; sessions, API tokens and activity; and the metadata of sent envelopes.\n\
- It is written while it is read, in portions of one key or at most 500 rows, so it is no snapshot: rows that change \
meanwhile may be missing.\n\
- If the service fails meanwhile, the response ends early and is no valid JSON.\n\
- Limited per session and account. Wrong secrets are limited per client address.";
const CLOSE: &str = "\
Closes the account permanently. Nobody can undo this. Needs the login secret as well as a session.\n\n\
- Revokes every key, so that envelopes to the keys can never be opened again.\n\
- Deletes sessions, webhooks, labels, handles and activity.\n\
- The response reports the deleted rows, and the data that stays with the reasons.\n\
- Wrong secrets are limited per client address.";
