//! `POST /v1/auth/logout`: ends the session of the request, or all sessions of its account.

use actix_web::{HttpRequest, web};
use schemars::JsonSchema;
use sealpost_domain::{Code, Refusal};
use sealpost_service::Scope;
use serde::Serialize;
use serde_json::json;

use crate::{
    endpoint::Endpoint,
    openapi::{Operation, Tag},
    request::{Fields, RequestBody, SessionRequest, request_source},
    response::{JsonResponse, ask_in_session},
    state::ApiState,
};

/// The sessions to end. Without members, only the session of the request.
#[derive(JsonSchema)]
struct LogoutRequest {
    /// If true, ends all sessions of the account.
    #[schemars(with = "Option<bool>")]
    all: bool,
}

/// Confirms that the session has ended.
#[derive(JsonSchema, Serialize)]
struct LoggedOut {
    /// Always `true`.
    #[schemars(extend("const" = true))]
    logged_out: bool,
}

impl RequestBody for LogoutRequest {
    fn read(fields: &mut Fields) -> Result<Self, Refusal> {
        Ok(Self { all: fields.flag("all")? })
    }
}

async fn logout(
    app: web::Data<ApiState>,
    http: HttpRequest,
    request: SessionRequest<LogoutRequest>,
) -> JsonResponse<LoggedOut> {
    ask_in_session(&app, request, async |sealpost, session, body| {
        let scope = if body.all { Scope::Account } else { Scope::Session };
        sealpost.logout(session, scope, request_source(&app, &http)).await?;
        Ok(LoggedOut { logged_out: true })
    })
    .await
}

pub(in crate::endpoints) fn endpoint() -> Endpoint {
    Endpoint { operation: operation(), route: web::route().to(logout) }
}

fn operation() -> Operation {
    Operation::new::<LoggedOut>("endSession", json!({ "logged_out": true }))
        .describe(Tag::Sessions, "Log out", DESCRIPTION)
        .session()
        .optional_body::<LogoutRequest>(vec![
            ("This session", json!({})),
            ("All sessions of the account", json!({ "all": true })),
        ])
        .refuses(&[Code::InvalidField])
}

const DESCRIPTION: &str = "\
Ends this session, or all sessions of the account, on all nodes at once. Not limited.";
