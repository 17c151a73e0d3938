//! `POST /v1/auth/login`: creates a session token from the account id and its login secret.

use actix_web::{HttpRequest, web};
use schemars::JsonSchema;
use sealpost_domain::{Code, Refusal};
use sealpost_service::{LoggedIn, Login};
use serde_json::json;

use crate::{
    endpoint::Endpoint,
    openapi::{Operation, Tag},
    request::{Fields, PublicRequest, RequestBody},
    response::JsonResponse,
    state::ApiState,
    throttle::log_in,
};

/// An account and its login secret.
#[derive(JsonSchema)]
struct LoginRequest {
    /// The id of the account, from the response to its activation.
    #[schemars(length(min = 1))]
    account_id: String,
    /// The login secret of the account.
    #[schemars(length(min = 1))]
    login_secret: String,
}

impl RequestBody for LoginRequest {
    fn read(fields: &mut Fields) -> Result<Self, Refusal> {
        fields.require(&["account_id", "login_secret"])?;
        let account_id = fields.text("account_id")?;
        Ok(Self { account_id, login_secret: fields.text("login_secret")? })
    }
}

async fn login(
    app: web::Data<ApiState>,
    http: HttpRequest,
    request: PublicRequest<LoginRequest>,
) -> JsonResponse<LoggedIn> {
    let PublicRequest { token: _, body, memory: _memory } = request;
    let LoginRequest { account_id, login_secret } = body?;
    Ok(web::Json(log_in(&app, &http, Login { account_id, login_secret }).await?))
}

pub(in crate::endpoints) fn endpoint() -> Endpoint {
    Endpoint { operation: operation(), route: web::route().to(login) }
}

fn operation() -> Operation {
    let logged_in = json!({
        "session_token": "st_wklD0Sn4aRBP8f9Oos9VSZ1BNl1Rl5zrA2Th38Kb3Lr1Rz8t9",
        "token_type": "Bearer",
        "expires_at": "2026-11-21T18:56:38.596Z",
        "account_id": "acct_01m7ye92k0e5wsvs5qjndehdka",
    });
    let body = json!({
        "account_id": "acct_01m7ye92k0e5wsvs5qjndehdka",
        "login_secret": "ls_t8K8ofmMkUDSQ5RpLi2vPj4yaRQnxMyT20raHg9fo8e4cHOBB",
    });
    Operation::new::<LoggedIn>("createSession", logged_in)
        .describe(Tag::Sessions, "Log in", DESCRIPTION)
        .body::<LoginRequest>(vec![("", body)])
        .refuses(&[
            Code::MissingField,
            Code::InvalidField,
            Code::Unauthorized,
            Code::RateLimitExceeded,
        ])
}

const DESCRIPTION: &str = "\
Creates a session token for an account. Send it as `Authorization: Bearer`. It is valid for 12 hours by default. An \
unknown account and a wrong secret get the same response. Limited per client address: wrong secrets of all accounts \
together, right ones per account. A right secret is accepted however many wrong ones came before.";
