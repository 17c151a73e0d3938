//! `POST /v1/did/activate`: creates an API key with its DID, and also an account if the request has no session.

use actix_web::{HttpRequest, web};
use schemars::JsonSchema;
use sealpost_domain::{Code, Handle, Label, Refusal};
use sealpost_service::{Activate, Activated};
use serde_json::json;

use crate::{
    endpoint::Endpoint,
    openapi::{Operation, Tag},
    request::{Fields, PublicRequest, RequestBody, invalid, request_source},
    response::JsonResponse,
    state::ApiState,
    throttle::{admit_activation, admit_sign_up},
};

/// The name and the handle of a new identity.
#[derive(JsonSchema)]
struct ActivateRequest {
    /// A name of the identity, for people.
    label: Label,
    /// A unique name of this key. Senders can address messages to it instead of the API key. Upper case becomes lower
    /// case.
    handle: Option<Handle>,
    /// The secret of an invite. Needed for a new account if sign-up is by invite, ignored otherwise.
    invite: Option<String>,
}

impl RequestBody for ActivateRequest {
    fn read(fields: &mut Fields) -> Result<Self, Refusal> {
        fields.require(&["label"])?;
        let label = Label::parse(&fields.text("label")?)
            .map_err(|fault| invalid("label", fault.to_string()))?;
        let handle = fields
            .optional_text("handle")?
            .map(|text| Handle::parse(&text))
            .transpose()
            .map_err(|fault| invalid("handle", fault.to_string()))?;
        let invite = fields.optional_text("invite")?;
        Ok(Self { label, handle, invite })
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
    let activated = app.sealpost.activate(session.as_ref(), activate, source).await?;
    Ok(web::Json(activated))
}

pub(in crate::endpoints) fn endpoint() -> Endpoint {
    Endpoint { operation: operation(), route: web::route().to(activate) }
}

fn operation() -> Operation {
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
    Operation::new::<Activated>("activateIdentity", activated)
        .describe(Tag::Identities, "Activate an identity", DESCRIPTION)
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
        ])
}

const DESCRIPTION: &str = "\
Creates an API key, a DID and, on request, a handle. Without a session token this creates an account too; the response \
shows its `login_secret` and `recovery_code` only once: store them in different places. With a session token the \
identity joins the account of the session. The handle of a revoked key stays reserved for its account. The operator \
may require an `invite` for a new account, or close sign-up. Limited per client address.";
