//! `/v1/auth/tokens`: API tokens of an account.

use std::{sync::Arc, time::Duration};

use actix_web::{HttpRequest, web};
use sealpost_domain::{Code, Label, Refusal, TokenScope, TokenScopes};
use sealpost_service::{ApiTokenCreated, ApiTokenList, ApiTokenRevoked, CreateApiToken};
use serde_json::json;

use crate::{
    admission,
    endpoint::Endpoint,
    openapi::{Operation, Tag},
    request::{
        Fields, Member, NoMembers, NumberUpTo, SessionRequest, invalid, request_body,
        request_source,
    },
    response::{JsonResponse, ask_in_session},
    state::ApiState,
};

request_body! {
    /// The new API token.
    struct CreateTokenRequest {
        /// The current login secret of the account.
        #[schemars(length(min = 1))]
        login_secret: String,
        /// The only API key that the token can act as.
        #[schemars(length(min = 1))]
        api_key_id: String,
        /// A name of the token, for people.
        name: Label,
        /// The requests that the token allows.
        #[schemars(with = "Vec<TokenScope>", length(min = 1))]
        scopes: TokenScopes,
        /// Lifetime in days.
        #[schemars(default)]
        expires_in_days: NumberUpTo<366, 90>,
    }
}

impl Member for TokenScopes {
    const IS_REQUIRED: bool = true;

    fn read(fields: &mut Fields, field: &'static str) -> Result<Self, Refusal> {
        let scope = |name: &String| {
            TokenScope::from_name(name).ok_or_else(|| {
                let known = TokenScope::ALL.map(TokenScope::as_str).join(", ");
                invalid(field, format!("must name scopes: {known}"))
            })
        };
        fields.texts(field)?.iter().map(scope).collect()
    }
}

async fn create(
    app: web::Data<ApiState>,
    http: HttpRequest,
    request: SessionRequest<CreateTokenRequest>,
) -> JsonResponse<ApiTokenCreated> {
    admission::admit_session(&app, &request).await?;
    ask_in_session(&app, request, async |sealpost, session, body| {
        let CreateTokenRequest { login_secret, api_key_id, name, scopes, expires_in_days } = body;
        let expires_in = Duration::from_hours(24 * u64::from(expires_in_days.0));
        let create = CreateApiToken { api_key_id, name, scopes, expires_in };
        let verified = admission::verify_login_secret(
            &app,
            &http,
            session,
            &login_secret,
            "creating an API token",
        );
        verified.await?;
        let owner = session.with_secret(login_secret, request_source(&app, &http));
        Ok(sealpost.accounts.create_api_token(owner, create).await?)
    })
    .await
}

pub(super) fn create_endpoint() -> Endpoint {
    let created = json!({
        "token_id": "tok_01m7ye92sqen1aazwgag1e22t1",
        "token": "kt_0000000000000000000000000000000000000000000000000",
        "name": "order service",
        "api_key_id": "ak_01m7ye92k0ejgs32r4n1j3x7m3",
        "scopes": ["send"],
        "created_at": "2026-11-21T06:56:38.711Z",
        "expires_at": "2027-02-19T06:56:38.711Z",
    });
    let body = json!({
        "login_secret": "ls_0000000000000000000000000000000000000000000000000",
        "api_key_id": "ak_01m7ye92k0ejgs32r4n1j3x7m3",
        "name": "order service",
        "scopes": ["send"],
    });
    let operation = Operation::new::<ApiTokenCreated>("createApiToken", created)
        .describe(Tag::Tokens, "Create an API token", CREATE)
        .session()
        .body::<CreateTokenRequest>(vec![("", body)])
        .refuses(&[
            Code::MissingField,
            Code::InvalidField,
            Code::KeyInactive,
            Code::KeyNotFound,
            Code::QuotaExceeded,
            Code::RateLimitExceeded,
        ]);
    Endpoint { operation, route: web::route().to(create) }
}

async fn list(
    app: web::Data<ApiState>,
    request: SessionRequest<NoMembers>,
) -> JsonResponse<ApiTokenList> {
    admission::admit_session(&app, &request).await?;
    ask_in_session(&app, request, async |sealpost, session, NoMembers| {
        Ok(sealpost.accounts.api_tokens(session).await?)
    })
    .await
}

pub(super) fn list_endpoint() -> Endpoint {
    let listed = json!({ "tokens": [{
        "token_id": "tok_01m7ye92sqen1aazwgag1e22t1",
        "name": "order service",
        "api_key_id": "ak_01m7ye92k0ejgs32r4n1j3x7m3",
        "scopes": ["send"],
        "created_at": "2026-11-21T06:56:38.711Z",
        "expires_at": "2027-02-19T06:56:38.711Z",
        "last_used_at": "2026-11-21T07:00:00.000Z",
    }] });
    let operation = Operation::new::<ApiTokenList>("listApiTokens", listed)
        .describe(Tag::Tokens, "List API tokens", LIST)
        .repeatable()
        .session()
        .refuses(&[Code::InvalidField, Code::RateLimitExceeded]);
    Endpoint { operation, route: web::route().to(list) }
}

request_body! {
    /// The API token to revoke.
    struct RevokeTokenRequest {
        /// The id of the token.
        #[schemars(length(min = 1))]
        token_id: String,
    }
}

pub(super) fn revoke_endpoint() -> Endpoint {
    let revoked = json!({ "token_id": "tok_01m7ye92sqen1aazwgag1e22t1", "revoked": true });
    let body = json!({ "token_id": "tok_01m7ye92sqen1aazwgag1e22t1" });
    let operation = Operation::new::<ApiTokenRevoked>("revokeApiToken", revoked)
        .describe(Tag::Tokens, "Revoke an API token", REVOKE)
        .session()
        .body::<RevokeTokenRequest>(vec![("", body)])
        .refuses(&[Code::MissingField, Code::InvalidField, Code::TokenNotFound]);
    operation.in_session(async |app, http, session, body: RevokeTokenRequest| {
        let (sealpost, session) = (Arc::clone(&app.sealpost), *session);
        let source = request_source(app, http);
        let revoked = async move {
            sealpost.accounts.revoke_api_token(&session, body.token_id, source).await
        };
        Ok(admission::run_ending(app, session.token_hash(), revoked).await??)
    })
}

const CREATE: &str = "\
Creates a bearer token for one API key, for a program that needs no session, and shows it only once. The token \
allows only the requests of its scopes.\n\n\
- Needs the login secret, so a stolen session cannot create tokens.\n\
- Expires after 90 days by default.\n\
- An account has at most 50 tokens by default.\n\
- Limited per session and account.";
const LIST: &str = "\
Lists the API tokens of the account that have not expired, oldest first. Their secrets are not shown. `last_used_at` is \
the start of the hour of the last use. Limited per session and account.";
const REVOKE: &str = "\
Revokes an API token on all nodes at once: no later request with the token is admitted. Needs no login secret, so that a \
leaked token can be ended quickly. An unknown token and the token of another account get the same response. Not \
limited.";
