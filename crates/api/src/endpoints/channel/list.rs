//! `POST /v1/channel/list`: lists the envelopes that the caller sent, in pages.

use actix_web::web;
use sealpost_domain::{Code, ThreadId, Timestamp, TokenScope};
use sealpost_service::{Access, ListSent, Purpose, SentCursor, SentPage};
use serde_json::json;

use crate::{
    endpoint::Endpoint,
    openapi::{Operation, Tag},
    request::{KeyRequest, NumberUpTo, refuse_until_before_since, request_body},
    response::{LimitedResponse, ask_as_key},
    state::ApiState,
};

request_body! {
    /// The page to show.
    struct ListRequest {
        /// Lists only envelopes to this API key or handle.
        recipient: Option<String>,
        /// Lists only envelopes of this thread.
        thread: Option<ThreadId>,
        /// The start of the time range, inclusive.
        since: Option<Timestamp>,
        /// The end of the time range, exclusive.
        until: Option<Timestamp> => refuse_until_before_since(since, until),
        /// The maximum number of envelopes, 20 by default.
        #[schemars(default)]
        limit: NumberUpTo<100, 20>,
        /// The `next_cursor` of the previous page.
        #[schemars(with = "Option<String>")]
        cursor: Option<SentCursor>,
    }
}

async fn list(
    app: web::Data<ApiState>,
    request: KeyRequest<ListRequest>,
) -> LimitedResponse<SentPage> {
    ask_as_key(&app, request, ACCESS, Purpose::Manage, async |sealpost, caller, body| {
        let ListRequest { recipient, thread, since, until, limit: NumberUpTo(limit), cursor } =
            body;
        let query = ListSent { recipient, thread, since, until, limit, cursor };
        sealpost.mailbox.list_sent(caller, query).await
    })
    .await
}

pub(in crate::endpoints) fn endpoint() -> Endpoint {
    let page = json!({
        "envelopes": [{
            "envelope_id": "env_01m7ye92t9f5vargkky48cczpv",
            "recipient": "ak_01m7ye92k0ejgs32r4n1j3x7m3",
            "sent_at": "2026-11-21T06:56:38.729Z",
            "state": "notified",
            "thread": "order:7",
            "reply_to": null,
            "type": "text/plain",
        }],
        "next_cursor": "AZ8eSQlJeXtqwnPXiGZ7Ow",
    });
    let operation = Operation::new::<SentPage>("listSent", page)
        .describe(Tag::Channel, "List the sent envelopes", DESCRIPTION)
        .repeatable()
        .session_and_key(ACCESS)
        .optional_body::<ListRequest>(vec![
            ("The newest envelopes", json!({})),
            ("A thread with one recipient", json!({ "recipient": "bob", "thread": "order:7" })),
            ("A day", json!({ "since": "2026-11-21T00:00:00Z", "until": "2026-11-22T00:00:00Z" })),
            ("The next page", json!({ "limit": 50, "cursor": "AZ8eSQlJeXtqwnPXiGZ7Ow" })),
        ])
        .refuses(&[Code::InvalidField, Code::RawDidRejected]);
    Endpoint { operation, route: web::route().to(list) }
}

const ACCESS: Access = Access::Scopes(&[TokenScope::Read, TokenScope::Send]);

const DESCRIPTION: &str = "\
Lists the envelopes that the caller sent and that are still kept, newest first, with their context and their \
state. There is no list of received envelopes.\n\n\
- `state` is that of the receipt: the policy of the recipient decides how much it shows.\n\
- A page can have fewer envelopes than `limit`, and even none: ask for further pages until `next_cursor` is \
null.\n\
- The request counts against the limits per minute and per day.";
