//! `POST /v1/auth/tokens/list`: lists the API tokens of an account.

use actix_web::web;
use sealpost_domain::Code;
use sealpost_service::ApiTokenList;
use serde_json::json;

use crate::{
    endpoint::Endpoint,
    openapi::{Operation, Tag},
    request::{NoMembers, SessionRequest},
    response::{JsonResponse, ask_in_session},
    state::ApiState,
    throttle,
};

async fn list(
    app: web::Data<ApiState>,
    request: SessionRequest<NoMembers>,
) -> JsonResponse<ApiTokenList> {
    throttle::admit_session(&app, &request).await?;
    ask_in_session(&app, request, async |sealpost, session, NoMembers| {
        Ok(sealpost.api_tokens(session).await?)
    })
    .await
}

pub(in crate::endpoints) fn endpoint() -> Endpoint {
    Endpoint { operation: operation(), route: web::route().to(list) }
}

fn operation() -> Operation {
    let listed = json!({ "tokens": [{
        "token_id": "tok_01m7ye92sqen1aazwgag1e22t1",
        "name": "order service",
        "api_key_id": "ak_01m7ye92k0ejgs32r4n1j3x7m3",
        "scopes": ["send"],
        "created_at": "2026-11-21T06:56:38.711Z",
        "expires_at": "2027-02-19T06:56:38.711Z",
        "last_used_at": "2026-11-21T07:00:00.000Z",
    }] });
    Operation::new::<ApiTokenList>("listApiTokens", listed)
        .describe(Tag::Tokens, "List API tokens", DESCRIPTION)
        .session()
        .refuses(&[Code::InvalidField, Code::RateLimitExceeded])
}

const DESCRIPTION: &str = "\
Lists the API tokens of the account that have not expired, oldest first. Their secrets are not shown. `last_used_at` is \
the start of the hour of the last use. Limited per session and account.";
