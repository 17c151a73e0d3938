//! `/v1/did`: creates an identity, shows the key of the caller, finds identities, and changes the policy of a key: the
//! accepted senders, and the part of receipts that senders can see.

use actix_web::{HttpRequest, web};
use sealpost_domain::{AcceptPolicy, Code, Handle, Label, ReceiptPolicy, Refusal, TokenScope};
use sealpost_service::{
    Access, Activate, Activated, KeyStanding, PolicyChange, PolicyView, ProofFormat, Purpose,
    Resolved,
};
use serde_json::json;

use crate::{
    admission::{admit_activation, admit_sign_up},
    endpoint::Endpoint,
    openapi::{Operation, Tag},
    request::{Fields, Member, PublicRequest, request_body, request_source},
    response::JsonResponse,
    state::ApiState,
};

request_body! {
    /// The name and the handle of a new identity.
    struct ActivateRequest {
        /// A name of the identity, for people.
        label: Label,
        /// A unique name of this key. Senders can address messages to it instead of the API key. Upper case becomes
        /// lower case.
        handle: Option<Handle>,
        /// The secret of an invite. Needed for a new account if sign-up is by invite, ignored otherwise.
        invite: Option<String>,
    }
}

async fn activate(
    app: web::Data<ApiState>,
    http: HttpRequest,
    request: PublicRequest<ActivateRequest>,
) -> JsonResponse<Activated> {
    let PublicRequest { token, body, memory: _memory } = request;
    let session = match token.as_deref() {
        None => None,
        token => Some(app.sealpost.authenticate_session(token).await?),
    };
    let ActivateRequest { label, handle, invite } = body?;
    match &session {
        None => admit_sign_up(&app, &http, invite.as_deref()).await?,
        Some(_) => admit_activation(&app, &http)?,
    }
    let activate = Activate { label, handle, invite };
    let source = request_source(&app, &http);
    let activated = app.sealpost.accounts.activate(session.as_ref(), activate, source).await?;
    Ok(web::Json(activated))
}

pub(super) fn activate_endpoint() -> Endpoint {
    let activated = json!({
        "api_key_id": "ak_01m7ye92k0ejgs32r4n1j3x7m3",
        "label": "Bob",
        "handle": "bob",
        "did": "did:key:z6MksVWKWtyHa9uFEG7z7nJVe4VsP3EJ4fYnNpc95ohVKNrR",
        "status": "active",
        "plan": "explorer",
        "account_id": "acct_01m7ye92k0e5wsvs5qjndehdka",
        "created_at": "2026-11-21T06:56:38.496Z",
        "login_secret": "ls_t8K8ofmMkUDSQ5RpLi2vPj4yaRQnxMyT20raHg9fo8e4cHOBB",
        "recovery_code": "rc_0000000000000000000000000000000000000000000000000",
    });
    let operation = Operation::new::<Activated>("activateIdentity", activated)
        .describe(Tag::Identities, "Activate an identity", ACTIVATE)
        .optional_session()
        .body::<ActivateRequest>(vec![
            ("With a handle", json!({ "label": "Bob", "handle": "bob" })),
            ("Without a handle", json!({ "label": "Alice" })),
            (
                "With an invite",
                json!({
                    "label": "Carol",
                    "invite": "inv_0000000000000000000000000000000000000000000000000",
                }),
            ),
        ])
        .refuses(&[
            Code::MissingField,
            Code::InvalidField,
            Code::ActivationRefused,
            Code::QuotaExceeded,
            Code::HandleTaken,
            Code::RateLimitExceeded,
        ]);
    Endpoint { operation, route: web::route().to(activate) }
}

request_body! {
    /// The options of the request. The API key can be named in the body or in a header.
    struct StatusRequest {
        /// If true, the response has a proof of the transparency log.
        #[schemars(with = "Option<bool>")]
        proof: bool,
        /// The form of the proof, `tlog` by default: a proof file (C2SP tlog-proof), or a COSE receipt (RFC 9942) in
        /// base64.
        proof_format: Option<ProofFormat>,
    }
}

pub(super) fn status_endpoint() -> Endpoint {
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
    let operation = Operation::new::<KeyStanding>("getKeyStatus", standing)
        .describe(Tag::Identities, "Show the status of an API key", STATUS)
        .repeatable()
        .session_and_key(ACCESS)
        .optional_body::<StatusRequest>(vec![
            ("Without a proof", json!({})),
            ("With a proof", json!({ "proof": true })),
        ]);
    operation.for_key(ACCESS, Purpose::Manage, async |app, _, caller, body: StatusRequest| {
        let proof = body.proof.then(|| body.proof_format.unwrap_or_default());
        app.sealpost.accounts.key_status(caller, proof).await
    })
}

request_body! {
    struct ResolveRequest {
        /// An API key or a handle, with or without a leading `@`.
        #[schemars(length(min = 1))]
        id: String,
    }
}

pub(super) fn resolve_endpoint() -> Endpoint {
    let resolved = json!({
        "api_key_id": "ak_01m7ye92jjfq1s4zr4gcymmdgn",
        "handle": "alice",
        "label": "Alice",
        "active": true,
    });
    let operation = Operation::new::<Resolved>("resolveIdentity", resolved)
        .describe(Tag::Identities, "Find an identity", RESOLVE)
        .repeatable()
        .session_and_key(ACCESS)
        .body::<ResolveRequest>(vec![
            ("By API key", json!({ "id": "ak_01m7ye92jjfq1s4zr4gcymmdgn" })),
            ("By handle", json!({ "id": "alice" })),
        ])
        .refuses(&[Code::MissingField, Code::RawDidRejected]);
    operation.for_key(ACCESS, Purpose::Manage, async |app, _, caller, body: ResolveRequest| {
        app.sealpost.accounts.resolve_identity(caller, body.id).await
    })
}

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

pub(super) fn policy_endpoint() -> Endpoint {
    let access = Access::Session;
    let view = json!({
        "accept": "contacts",
        "receipts": "notified",
        "listed": true,
        "allowed": ["ak_01m7ye92jjfq1s4zr4gcymmdgn"],
        "blocked": [],
    });
    let operation = Operation::new::<PolicyView>("setPolicy", view)
        .describe(Tag::Identities, "Decide who may send to a key", POLICY)
        .repeatable()
        .session_and_key(access)
        .optional_body::<PolicyRequest>(vec![
            ("Accept known senders", json!({ "accept": "contacts", "allow": ["alice"] })),
            ("Block a sender", json!({ "block": ["ak_01m7ye92k0ejgs32r4n1j3x7m3"] })),
            ("Show the policy", json!({})),
        ])
        .refuses(&[Code::RawDidRejected, Code::QuotaExceeded]);
    operation.for_key(access, Purpose::Manage, async |app, http, caller, body: PolicyRequest| {
        let change = PolicyChange {
            accept: body.accept,
            receipts: body.receipts,
            listed: body.listed,
            allow: body.allow.0,
            unallow: body.unallow.0,
            block: body.block.0,
            unblock: body.unblock.0,
        };
        let actor = caller.acting(&request_source(app, http));
        app.sealpost.accounts.set_policy(&actor, change).await
    })
}

const ACTIVATE: &str = "\
Creates an API key, a DID and, on request, a handle. Without a session token this creates an account too; with \
one, the identity joins the account of the session.\n\n\
- The response to a new account shows its `login_secret` and `recovery_code` only once. Store them in different \
places.\n\
- The label must not have characters that change the direction of text, such as U+202E, or separate lines.\n\
- The handle of a revoked key stays reserved for its account.\n\
- The operator may require an `invite` for a new account, or close sign-up.\n\
- Limited per client address.";
const ACCESS: Access = Access::Scopes(&[TokenScope::Read]);
const STATUS: &str = "\
Shows status, plan, usage and limits of the key, its governance, and the envelopes that wait for a webhook.\n\n\
- A blocked key may ask too.\n\
- With `proof`, the response proves that the transparency log has DID and status.\n\
- The request counts against the limits per minute and per day.";
const RESOLVE: &str = "\
Shows the handle and the label of an identity, for example of the `sender` of an event.\n\n\
- `active` is true if the state of the key is `active`. A council action can block an active key.\n\
- A raw DID is refused.\n\
- The request counts against the limits per minute and per day.";
const POLICY: &str = "\
Changes the policy of the key as a recipient, and shows it. `accept` decides whose messages the key gets: \
`anyone` (the default), `contacts` (keys to which this key has sent, while the envelopes are kept, and the \
allowlist), `allowlist`, or `nobody`.\n\n\
- A blocked key is refused in every case.\n\
- The policy holds for every send that is admitted after the response, on every node.\n\
- A refused sender gets `RECIPIENT_REFUSES` for every reason.\n\
- `listed: false` hides the label from other keys.\n\
- Each list has at most 1,000 keys.\n\
- The policy of a key that is blocked by governance can change too.";
