//! `POST /v1/auth/rotate-secret`: replaces the login secret of the account. Its sessions continue.

use actix_web::{HttpRequest, web};
use sealpost_domain::Code;
use sealpost_service::SecretRotated;
use serde_json::json;

use crate::{
    endpoint::Endpoint,
    openapi::{Operation, Tag},
    request::{NoMembers, SessionRequest, request_source},
    response::{JsonResponse, ask_in_session},
    state::ApiState,
    throttle,
};

async fn rotate_secret(
    app: web::Data<ApiState>,
    http: HttpRequest,
    request: SessionRequest<NoMembers>,
) -> JsonResponse<SecretRotated> {
    throttle::admit_account(&app, &request).await?;
    ask_in_session(&app, request, async |sealpost, session, NoMembers| {
        sealpost.rotate_login_secret(session, request_source(&app, &http)).await
    })
    .await
}

pub(in crate::endpoints) fn endpoint() -> Endpoint {
    Endpoint { operation: operation(), route: web::route().to(rotate_secret) }
}

fn operation() -> Operation {
    let rotated = json!({
        "account_id": "acct_01m7ye92k0e5wsvs5qjndehdka",
        "login_secret": "ls_t8K8ofmMkUDSQ5RpLi2vPj4yaRQnxMyT20raHg9fo8e4cHOBB",
    });
    Operation::new::<SecretRotated>("rotateLoginSecret", rotated)
        .describe(Tag::Sessions, "Replace the login secret", DESCRIPTION)
        .session()
        .refuses(&[Code::InvalidField, Code::RateLimitExceeded])
}

const DESCRIPTION: &str = "\
Creates a new login secret for the account and shows it only once. The old secret stops working at once. Sessions \
continue: if the old secret has leaked, end them with `POST /v1/auth/logout`. Limited per account.";
