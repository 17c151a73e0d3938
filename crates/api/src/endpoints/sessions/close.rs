//! `POST /v1/account/close`: closes an account permanently, and erases the personal data of its owner.

use actix_web::{HttpRequest, web};
use schemars::JsonSchema;
use sealpost_domain::{Code, Refusal};
use sealpost_service::AccountClosed;
use serde_json::json;

use crate::{
    endpoint::Endpoint,
    openapi::{Operation, Tag},
    request::{Fields, RequestBody, SessionRequest, request_source},
    response::{JsonResponse, ask_in_session},
    state::ApiState,
    throttle::verify_login_secret,
};

/// The login secret, which confirms that the owner of the account sends the request.
#[derive(JsonSchema)]
struct CloseRequest {
    /// The login secret of the account.
    #[schemars(length(min = 1))]
    login_secret: String,
}

impl RequestBody for CloseRequest {
    fn read(fields: &mut Fields) -> Result<Self, Refusal> {
        fields.require(&["login_secret"])?;
        Ok(Self { login_secret: fields.text("login_secret")? })
    }
}

async fn close(
    app: web::Data<ApiState>,
    http: HttpRequest,
    request: SessionRequest<CloseRequest>,
) -> JsonResponse<AccountClosed> {
    ask_in_session(&app, request, async |sealpost, session, body| {
        let secret = body.login_secret;
        verify_login_secret(&app, &http, session, &secret, "closing the account").await?;
        Ok(sealpost.close_account(session.with_secret(secret, request_source(&app, &http))).await?)
    })
    .await
}

pub(in crate::endpoints) fn endpoint() -> Endpoint {
    Endpoint { operation: operation(), route: web::route().to(close) }
}

fn operation() -> Operation {
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
        },
        "kept": [{
            "data": "envelopes sent by the account",
            "reason": "their recipients can still open them",
            "until": "the end of retention",
        }],
    });
    Operation::new::<AccountClosed>("closeAccount", closed)
        .describe(Tag::Sessions, "Close the account", DESCRIPTION)
        .session()
        .body::<CloseRequest>(vec![(
            "",
            json!({ "login_secret": "ls_t8K8ofmMkUDSQ5RpLi2vPj4yaRQnxMyT20raHg9fo8e4cHOBB" }),
        )])
        .refuses(&[Code::MissingField, Code::InvalidField, Code::RateLimitExceeded])
}

const DESCRIPTION: &str = "\
Closes the account permanently. Revokes every key, so that envelopes to the keys can never be opened again. Deletes \
sessions, webhooks, labels, handles and activity. The response reports the deleted rows, and the data that stays with \
the reasons. Needs the login secret as well as a session. Nobody can undo this. Wrong secrets are \
limited per client address.";
