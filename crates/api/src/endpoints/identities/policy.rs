//! `POST /v1/did/policy`: shows and changes the policy of an API key: the accepted senders, and the part of receipts
//! that senders can see.

use actix_web::{HttpRequest, web};
use sealpost_domain::{AcceptPolicy, Code, ReceiptPolicy, Refusal};
use sealpost_service::{Access, PolicyChange, PolicyView, Purpose};
use serde_json::json;

use crate::{
    endpoint::Endpoint,
    openapi::{Operation, Tag},
    request::{Fields, KeyRequest, Member, request_body, request_source},
    response::{LimitedResponse, ask_as_key},
    state::ApiState,
};

request_body! {
    /// The changes to the policy of the API key. All members are optional. An omitted member changes nothing.
    struct PolicyRequest {
        /// The senders whose messages the key accepts.
        accept: Option<AcceptPolicy>,
        /// The part of a receipt (the state of a received envelope) that the key shows to the sender.
        receipts: Option<ReceiptPolicy>,
        /// If true, other keys can see the label of this key.
        listed: Option<bool>,
        /// API keys or handles to add to the allowlist.
        #[schemars(with = "Option<Vec<String>>", length(max = 100))]
        allow: KeyNames,
        /// API keys or handles to remove from the allowlist.
        #[schemars(with = "Option<Vec<String>>", length(max = 100))]
        unallow: KeyNames,
        /// API keys or handles to add to the blocklist.
        #[schemars(with = "Option<Vec<String>>", length(max = 100))]
        block: KeyNames,
        /// API keys or handles to remove from the blocklist.
        #[schemars(with = "Option<Vec<String>>", length(max = 100))]
        unblock: KeyNames,
    }
}

/// An optional list of API keys and handles.
struct KeyNames(Vec<String>);

impl Member for KeyNames {
    const IS_REQUIRED: bool = false;

    fn read(fields: &mut Fields, field: &'static str) -> Result<Self, Refusal> {
        let names = fields.optional_texts(field)?.unwrap_or_default();
        PolicyChange::check_names(field, &names)?;
        Ok(Self(names))
    }
}

async fn policy(
    app: web::Data<ApiState>,
    http: HttpRequest,
    request: KeyRequest<PolicyRequest>,
) -> LimitedResponse<PolicyView> {
    ask_as_key(&app, request, ACCESS, Purpose::Manage, async |sealpost, caller, body| {
        let change = PolicyChange {
            accept: body.accept,
            receipts: body.receipts,
            listed: body.listed,
            allow: body.allow.0,
            unallow: body.unallow.0,
            block: body.block.0,
            unblock: body.unblock.0,
        };
        sealpost.accounts.set_policy(&caller.acting(request_source(&app, &http)), change).await
    })
    .await
}

pub(in crate::endpoints) fn endpoint() -> Endpoint {
    let view = json!({
        "accept": "contacts",
        "receipts": "notified",
        "listed": true,
        "allowed": ["ak_01m7ye92jjfq1s4zr4gcymmdgn"],
        "blocked": [],
    });
    let operation = Operation::new::<PolicyView>("setPolicy", view)
        .describe(Tag::Identities, "Decide who may send to a key", DESCRIPTION)
        .repeatable()
        .session_and_key(ACCESS)
        .optional_body::<PolicyRequest>(vec![
            ("Accept known senders", json!({ "accept": "contacts", "allow": ["alice"] })),
            ("Block a sender", json!({ "block": ["ak_01m7ye92k0ejgs32r4n1j3x7m3"] })),
            ("Show the policy", json!({})),
        ])
        .refuses(&[Code::RawDidRejected, Code::QuotaExceeded]);
    Endpoint { operation, route: web::route().to(policy) }
}

const ACCESS: Access = Access::Session;

const DESCRIPTION: &str = "\
Changes the policy of the key as a recipient, and shows it. `accept` decides whose messages the key gets: \
`anyone` (the default), `contacts` (keys to which this key has sent, while the envelopes are kept, and the \
allowlist), `allowlist`, or `nobody`.\n\n\
- A blocked key is refused in every case.\n\
- The policy holds for every send that is admitted after the response, on every node.\n\
- A refused sender gets `RECIPIENT_REFUSES` for every reason.\n\
- `listed: false` hides the label from other keys.\n\
- Each list has at most 1,000 keys.\n\
- The policy of a key that is blocked by governance can change too.";
