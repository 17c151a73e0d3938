//! `POST /v1/account/activity`: lists the activity of an account, such as logins and changes of its keys, in pages.

use std::ops::RangeInclusive;

use actix_web::web;
use schemars::JsonSchema;
use sealpost_domain::{Code, Refusal};
use sealpost_service::{ActivityCursor, ActivityPage, ListActivity};
use serde_json::json;

use crate::{
    endpoint::Endpoint,
    openapi::{Operation, Tag},
    request::{Fields, RequestBody, SessionRequest, invalid},
    response::{JsonResponse, ask_in_session},
    state::ApiState,
    throttle,
};

/// The page to show.
#[derive(JsonSchema)]
struct ActivityRequest {
    /// The maximum number of entries, 20 by default.
    #[schemars(with = "Option<u32>", range(min = 1, max = 100))]
    limit: u32,
    /// The `next_cursor` of the previous page.
    #[schemars(with = "Option<String>")]
    cursor: Option<ActivityCursor>,
}

impl RequestBody for ActivityRequest {
    fn read(fields: &mut Fields) -> Result<Self, Refusal> {
        let limit = fields.optional_number("limit", LIMITS)?.unwrap_or(LIMIT_DEFAULT);
        let cursor = fields.optional_text("cursor")?;
        let cursor = cursor.map(|text| text.parse::<ActivityCursor>()).transpose();
        let cursor = cursor.map_err(|fault| invalid("cursor", fault.to_string()))?;
        Ok(Self { limit, cursor })
    }
}

async fn activity(
    app: web::Data<ApiState>,
    request: SessionRequest<ActivityRequest>,
) -> JsonResponse<ActivityPage> {
    throttle::admit_session(&app, &request).await?;
    ask_in_session(&app, request, async |sealpost, session, body| {
        let ActivityRequest { limit, cursor } = body;
        Ok(sealpost.list_activity(session, ListActivity { limit, cursor }).await?)
    })
    .await
}

pub(in crate::endpoints) fn endpoint() -> Endpoint {
    Endpoint { operation: operation(), route: web::route().to(activity) }
}

fn operation() -> Operation {
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
    Operation::new::<ActivityPage>("listActivity", page)
        .describe(Tag::Sessions, "List the activity of the account", DESCRIPTION)
        .session()
        .optional_body::<ActivityRequest>(vec![
            ("The newest entries", json!({})),
            ("The next page", json!({ "limit": 50, "cursor": "AZyFnh6nd0mK1bW6Qm4y3A" })),
        ])
        .refuses(&[Code::InvalidField, Code::RateLimitExceeded])
}

const DESCRIPTION: &str = "\
Lists acts on the account, newest first: logins and failed logins with the client address, changes of secrets, keys and \
webhooks, and acts of operators. Sends are not included. Entries are kept for 90 days, and at most 1,000 of each kind. At \
most ten failed logins within an hour are recorded. Limited per session and account.";

const LIMITS: RangeInclusive<u32> = 1..=100;
const LIMIT_DEFAULT: u32 = 20;
