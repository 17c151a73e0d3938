//! `POST /v1/auth/recover`: replaces the secrets of an account with its recovery code.

use actix_web::{HttpRequest, web};
use schemars::JsonSchema;
use sealpost_domain::{Code, Refusal};
use sealpost_service::{Recovery, SecretsReplaced};
use serde_json::json;

use crate::{
    endpoint::Endpoint,
    openapi::{Operation, Tag},
    request::{Fields, PublicRequest, RequestBody},
    response::JsonResponse,
    state::ApiState,
    throttle,
};

/// The account and its recovery code.
#[derive(JsonSchema)]
struct RecoverAccountRequest {
    /// The id of the account, from the response to its activation.
    #[schemars(length(min = 1))]
    account_id: String,
    /// The newest recovery code of the account.
    #[schemars(length(min = 1))]
    recovery_code: String,
}

impl RequestBody for RecoverAccountRequest {
    fn read(fields: &mut Fields) -> Result<Self, Refusal> {
        fields.require(&["account_id", "recovery_code"])?;
        let account_id = fields.text("account_id")?;
        Ok(Self { account_id, recovery_code: fields.text("recovery_code")? })
    }
}

async fn recover(
    app: web::Data<ApiState>,
    http: HttpRequest,
    request: PublicRequest<RecoverAccountRequest>,
) -> JsonResponse<SecretsReplaced> {
    let PublicRequest { token: _, body, memory: _memory } = request;
    let RecoverAccountRequest { account_id, recovery_code } = body?;
    let recovery = Recovery { account_id, recovery_code };
    Ok(web::Json(throttle::recover(&app, &http, recovery).await?))
}

pub(in crate::endpoints) fn endpoint() -> Endpoint {
    Endpoint { operation: operation(), route: web::route().to(recover) }
}

fn operation() -> Operation {
    let recovered = json!({
        "account_id": "acct_01m7ye92k0e5wsvs5qjndehdka",
        "login_secret": "ls_t8K8ofmMkUDSQ5RpLi2vPj4yaRQnxMyT20raHg9fo8e4cHOBB",
        "recovery_code": "rc_0000000000000000000000000000000000000000000000000",
    });
    let body = json!({
        "account_id": "acct_01m7ye92k0e5wsvs5qjndehdka",
        "recovery_code": "rc_0000000000000000000000000000000000000000000000000",
    });
    Operation::new::<SecretsReplaced>("recoverAccount", recovered)
        .describe(Tag::Sessions, "Recover an account", DESCRIPTION)
        .body::<RecoverAccountRequest>(vec![("", body)])
        .refuses(&[
            Code::MissingField,
            Code::InvalidField,
            Code::Unauthorized,
            Code::RateLimitExceeded,
        ])
}

const DESCRIPTION: &str = "\
Replaces a lost or leaked login secret. The recovery code works once: the response has a new login secret and a new \
recovery code, shown only here. All sessions and API tokens of the account end at once on all nodes. API keys, webhooks \
and envelopes stay. Wrong codes are limited per client address, together with wrong login secrets.";
