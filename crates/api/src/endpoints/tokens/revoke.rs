//! `POST /v1/auth/tokens/revoke`: revokes an API token.

use actix_web::{HttpRequest, web};
use schemars::JsonSchema;
use sealpost_domain::{Code, Refusal};
use sealpost_service::ApiTokenRevoked;
use serde_json::json;

use crate::{
    endpoint::Endpoint,
    openapi::{Operation, Tag},
    request::{Fields, RequestBody, SessionRequest, request_source},
    response::{JsonResponse, ask_in_session},
    state::ApiState,
    throttle,
};

/// The API token to revoke.
#[derive(JsonSchema)]
struct RevokeTokenRequest {
    /// The id of the token.
    #[schemars(length(min = 1))]
    token_id: String,
}

impl RequestBody for RevokeTokenRequest {
    fn read(fields: &mut Fields) -> Result<Self, Refusal> {
        fields.require(&["token_id"])?;
        Ok(Self { token_id: fields.text("token_id")? })
    }
}

async fn revoke(
    app: web::Data<ApiState>,
    http: HttpRequest,
    request: SessionRequest<RevokeTokenRequest>,
) -> JsonResponse<ApiTokenRevoked> {
    ask_in_session(&app, request, async |sealpost, session, body| {
        let _slot = throttle::admit_ending(&app, session.token_hash()).await;
        Ok(sealpost.revoke_api_token(session, body.token_id, request_source(&app, &http)).await?)
    })
    .await
}

pub(in crate::endpoints) fn endpoint() -> Endpoint {
    Endpoint { operation: operation(), route: web::route().to(revoke) }
}

fn operation() -> Operation {
    let revoked = json!({ "token_id": "tok_01m7ye92sqen1aazwgag1e22t1", "revoked": true });
    let body = json!({ "token_id": "tok_01m7ye92sqen1aazwgag1e22t1" });
    Operation::new::<ApiTokenRevoked>("revokeApiToken", revoked)
        .describe(Tag::Tokens, "Revoke an API token", DESCRIPTION)
        .session()
        .body::<RevokeTokenRequest>(vec![("", body)])
        .refuses(&[Code::MissingField, Code::InvalidField, Code::TokenNotFound])
}

const DESCRIPTION: &str = "\
Revokes an API token on all nodes at once: no later request with the token is admitted. Needs no login secret, so that a \
leaked token can be ended quickly. An unknown token and the token of another account get the same response. Not \
limited.";
