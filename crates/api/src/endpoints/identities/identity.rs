//! `POST /v1/did/activate`, `status` and `resolve`: creates an identity, shows the key of the caller, and finds
//! identities.

use actix_web::{HttpRequest, web};
use sealpost_domain::{Code, Handle, Label, TokenScope};
use sealpost_service::{Access, Activate, Activated, KeyStanding, ProofFormat, Purpose, Resolved};
use serde_json::json;

use crate::{
    endpoint::Endpoint,
    openapi::{Operation, Tag},
    request::{KeyRequest, PublicRequest, request_body, request_source},
    response::{JsonResponse, LimitedResponse, ask_as_key},
    state::ApiState,
    throttle::{admit_activation, admit_sign_up},
};

request_body! {
    /// The name and the handle of a new identity.
    struct ActivateRequest {
        /// A name of the identity, for people.
        label: Label,
        /// A unique name of this key. Senders can address messages to it instead of the API key. Upper case becomes lower
        /// case.
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

pub(in crate::endpoints) fn activate_endpoint() -> Endpoint {
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
        /// The form of the proof, `tlog` by default: a proof file (C2SP tlog-proof), or a COSE receipt (RFC 9942) in base64.
        proof_format: Option<ProofFormat>,
    }
}

async fn status(
    app: web::Data<ApiState>,
    request: KeyRequest<StatusRequest>,
) -> LimitedResponse<KeyStanding> {
    ask_as_key(&app, request, ACCESS, Purpose::Manage, async |sealpost, caller, body| {
        let proof = body.proof.then(|| body.proof_format.unwrap_or_default());
        sealpost.accounts.key_status(caller, proof).await
    })
    .await
}

pub(in crate::endpoints) fn status_endpoint() -> Endpoint {
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
    Endpoint { operation, route: web::route().to(status) }
}

request_body! {
    struct ResolveRequest {
        /// An API key or a handle, with or without a leading `@`.
        #[schemars(length(min = 1))]
        id: String,
    }
}

async fn resolve(
    app: web::Data<ApiState>,
    request: KeyRequest<ResolveRequest>,
) -> LimitedResponse<Resolved> {
    ask_as_key(&app, request, ACCESS, Purpose::Manage, async |sealpost, caller, body| {
        sealpost.accounts.resolve_identity(caller, body.id).await
    })
    .await
}

pub(in crate::endpoints) fn resolve_endpoint() -> Endpoint {
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
    Endpoint { operation, route: web::route().to(resolve) }
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
