//! `POST /v1/auth/rotate-secret`: replaces the login secret of the account. The sessions of the account stay valid.

use actix_web::{HttpRequest, web};
use schemars::JsonSchema;
use sealpost_domain::{Code, Refusal};
use sealpost_service::SecretsReplaced;
use serde_json::json;

use crate::{
    endpoint::Endpoint,
    openapi::{Operation, Tag},
    request::{Fields, RequestBody, SessionRequest, request_source},
    response::{JsonResponse, ask_in_session},
    state::ApiState,
    throttle,
};

/// The current login secret, which is replaced.
#[derive(JsonSchema)]
struct RotateSecretRequest {
    /// The current login secret of the account.
    #[schemars(length(min = 1))]
    login_secret: String,
}

impl RequestBody for RotateSecretRequest {
    fn read(fields: &mut Fields) -> Result<Self, Refusal> {
        fields.require(&["login_secret"])?;
        Ok(Self { login_secret: fields.text("login_secret")? })
    }
}

async fn rotate_secret(
    app: web::Data<ApiState>,
    http: HttpRequest,
    request: SessionRequest<RotateSecretRequest>,
) -> JsonResponse<SecretsReplaced> {
    ask_in_session(&app, request, async |sealpost, session, body| {
        let (secret, source) = (body.login_secret, request_source(&app, &http));
        let verified =
            throttle::verify_login_secret(&app, &http, session, &secret, "replacing the secrets");
        verified.await?;
        throttle::admit_secret_change(&app, session.account_id())?;
        Ok(sealpost.replace_secrets(session.with_secret(secret, source)).await?)
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
        "recovery_code": "rc_0000000000000000000000000000000000000000000000000",
    });
    let body = json!({ "login_secret": "ls_0000000000000000000000000000000000000000000000000" });
    Operation::new::<SecretsReplaced>("rotateLoginSecret", rotated)
        .describe(Tag::Sessions, "Replace the login secret", DESCRIPTION)
        .session()
        .body::<RotateSecretRequest>(vec![("", body)])
        .refuses(&[Code::MissingField, Code::InvalidField, Code::RateLimitExceeded])
}

const DESCRIPTION: &str = "\
Creates a new login secret and a new recovery code for the account, and shows them only once. Needs the present login \
secret, so a stolen session cannot take over the account. The old secret and the old code stop working at once. \
Sessions and API tokens continue: if the old secret has leaked, end the sessions with `POST /v1/auth/logout`. Wrong \
secrets are limited per client address, rotations per account.";
