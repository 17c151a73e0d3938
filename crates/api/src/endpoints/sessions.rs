//! `/v1/auth`: sessions, the login secret and the recovery code of an account.

use actix_web::{HttpRequest, web};
use schemars::JsonSchema;
use sealpost_domain::Code;
use sealpost_service::{LoggedIn, Login, Recovery, Scope, SecretsReplaced};
use serde::Serialize;
use serde_json::json;

use crate::{
    admission::{self, log_in},
    endpoint::Endpoint,
    openapi::{Operation, Tag},
    request::{PublicRequest, request_body, request_source},
    response::JsonResponse,
    state::ApiState,
};

request_body! {
    /// An account and its login secret.
    struct LoginRequest {
        /// The id of the account, from the response to its activation.
        #[schemars(length(min = 1))]
        account_id: String,
        /// The login secret of the account.
        #[schemars(length(min = 1))]
        login_secret: String,
    }
}

async fn login(
    app: web::Data<ApiState>,
    http: HttpRequest,
    request: PublicRequest<LoginRequest>,
) -> JsonResponse<LoggedIn> {
    let PublicRequest { token: _, body, memory: _memory } = request;
    let LoginRequest { account_id, login_secret } = body?;
    let login = Login { account_id, login_secret, on_dashboard: false };
    Ok(web::Json(log_in(&app, &http, login).await?))
}

pub(super) fn login_endpoint() -> Endpoint {
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
    let operation = Operation::new::<LoggedIn>("createSession", logged_in)
        .describe(Tag::Sessions, "Log in", LOGIN)
        .repeatable()
        .body::<LoginRequest>(vec![("", body)])
        .refuses(&[
            Code::MissingField,
            Code::InvalidField,
            Code::Unauthorized,
            Code::RateLimitExceeded,
        ]);
    Endpoint { operation, route: web::route().to(login) }
}

request_body! {
    /// The sessions to end. Without members, only the session of the request.
    struct LogoutRequest {
        /// If true, ends all sessions of the account.
        #[schemars(with = "Option<bool>")]
        all: bool,
    }
}

/// Confirms that the session has ended.
#[derive(JsonSchema, Serialize)]
struct LoggedOut {
    /// Always `true`.
    #[schemars(extend("const" = true))]
    logged_out: bool,
}

pub(super) fn logout_endpoint() -> Endpoint {
    let operation = Operation::new::<LoggedOut>("endSession", json!({ "logged_out": true }))
        .describe(Tag::Sessions, "Log out", LOGOUT)
        .session()
        .optional_body::<LogoutRequest>(vec![
            ("This session", json!({})),
            ("All sessions of the account", json!({ "all": true })),
        ])
        .refuses(&[Code::InvalidField]);
    operation.in_session(async |app, http, session, body: LogoutRequest| {
        let scope = if body.all { Scope::Account } else { Scope::Session };
        app.sealpost.accounts.logout(session, scope, request_source(app, http)).await?;
        Ok(LoggedOut { logged_out: true })
    })
}

request_body! {
    /// The current login secret, which is replaced.
    struct RotateSecretRequest {
        /// The current login secret of the account.
        #[schemars(length(min = 1))]
        login_secret: String,
    }
}

pub(super) fn rotate_secret_endpoint() -> Endpoint {
    let rotated = json!({
        "account_id": "acct_01m7ye92k0e5wsvs5qjndehdka",
        "login_secret": "ls_t8K8ofmMkUDSQ5RpLi2vPj4yaRQnxMyT20raHg9fo8e4cHOBB",
        "recovery_code": "rc_0000000000000000000000000000000000000000000000000",
    });
    let body = json!({ "login_secret": "ls_0000000000000000000000000000000000000000000000000" });
    let operation = Operation::new::<SecretsReplaced>("rotateLoginSecret", rotated)
        .describe(Tag::Sessions, "Replace the login secret", ROTATE_SECRET)
        .session()
        .body::<RotateSecretRequest>(vec![("", body)])
        .refuses(&[Code::MissingField, Code::InvalidField, Code::RateLimitExceeded]);
    operation.in_session(async |app, http, session, body: RotateSecretRequest| {
        let (secret, source) = (body.login_secret, request_source(app, http));
        let verified =
            admission::verify_login_secret(app, http, session, &secret, "replacing the secrets");
        verified.await?;
        admission::admit_secret_change(app, session.account_id())?;
        Ok(app.sealpost.accounts.replace_secrets(session.with_secret(secret, source)).await?)
    })
}

request_body! {
    /// The account and its recovery code.
    struct RecoverAccountRequest {
        /// The id of the account, from the response to its activation.
        #[schemars(length(min = 1))]
        account_id: String,
        /// The newest recovery code of the account.
        #[schemars(length(min = 1))]
        recovery_code: String,
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
    Ok(web::Json(admission::recover(&app, &http, recovery).await?))
}

pub(super) fn recover_endpoint() -> Endpoint {
    let recovered = json!({
        "account_id": "acct_01m7ye92k0e5wsvs5qjndehdka",
        "login_secret": "ls_t8K8ofmMkUDSQ5RpLi2vPj4yaRQnxMyT20raHg9fo8e4cHOBB",
        "recovery_code": "rc_0000000000000000000000000000000000000000000000000",
    });
    let body = json!({
        "account_id": "acct_01m7ye92k0e5wsvs5qjndehdka",
        "recovery_code": "rc_0000000000000000000000000000000000000000000000000",
    });
    let operation = Operation::new::<SecretsReplaced>("recoverAccount", recovered)
        .describe(Tag::Sessions, "Recover an account", RECOVER)
        .body::<RecoverAccountRequest>(vec![("", body)])
        .refuses(&[
            Code::MissingField,
            Code::InvalidField,
            Code::Unauthorized,
            Code::RateLimitExceeded,
        ]);
    Endpoint { operation, route: web::route().to(recover) }
}

const LOGIN: &str = "\
Creates a session token for an account. Send it as `Authorization: Bearer`. It is valid for 12 hours by default.\n\n\
- An unknown account and a wrong secret get the same response.\n\
- Limited per client address: wrong secrets of all accounts together, right ones per account. A right secret is \
accepted however many wrong ones came before.";
const LOGOUT: &str = "\
Ends this session, or all sessions of the account, on all nodes at once. Not limited.";
const ROTATE_SECRET: &str = "\
Creates a new login secret and a new recovery code for the account, and shows them only once. Needs the present \
login secret, so a stolen session cannot take over the account.\n\n\
- The old secret and the old code stop working at once.\n\
- Sessions and API tokens continue: if the old secret has leaked, end the sessions with `POST /v1/auth/logout`.\n\
- Wrong secrets are limited per client address, rotations per account.";
const RECOVER: &str = "\
Replaces a lost or leaked login secret. The recovery code works once: the response has a new login secret and a \
new recovery code, shown only here.\n\n\
- All sessions and API tokens of the account end at once on all nodes.\n\
- API keys, webhooks and envelopes stay.\n\
- Wrong codes are limited per client address, together with wrong login secrets.";
