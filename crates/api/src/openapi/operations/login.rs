//! `POST /v1/auth/login`.

use sealpost_domain::Code;
use sealpost_service::{LoggedIn, Login};
use serde_json::json;

use super::{Group, Operation};

pub(super) fn operation() -> Operation {
    let answer = json!({
        "session_token": "st_wklD0Sn4aRBP8f9Oos9VSZ1BNl1Rl5zrA2Th38Kb3Lr1Rz8t9",
        "token_type": "Bearer",
        "expires_at": "2026-11-21T18:56:38.596Z",
        "account_id": "acct_01m7ye92k0e5wsvs5qjndehdka",
    });
    let body = json!({
        "account_id": "acct_01m7ye92k0e5wsvs5qjndehdka",
        "login_secret": "ls_t8K8ofmMkUDSQ5RpLi2vPj4yaRQnxMyT20raHg9fo8e4cHOBB",
    });
    Operation::post::<LoggedIn>("/v1/auth/login", "login", answer)
        .says(Group::Sessions, "Begin a session", ABOUT)
        .takes::<Login>(vec![("", body)])
        .refuses(&[
            Code::MissingField,
            Code::InvalidField,
            Code::Unauthorized,
            Code::RateLimitExceeded,
        ])
}

const ABOUT: &str = "\
Gives a session token for an account, to be sent as `Authorization: Bearer`. It lasts 12 hours by default. A wrong \
account and a wrong secret are refused alike. Limited per client address.";
