//! `POST /v1/auth/rotate-secret`.

use sealpost_domain::Code;
use sealpost_service::SecretRotated;
use serde_json::json;

use super::{Group, Operation};

pub(super) fn operation() -> Operation {
    let answer = json!({
        "account_id": "acct_01m7ye92k0e5wsvs5qjndehdka",
        "login_secret": "ls_t8K8ofmMkUDSQ5RpLi2vPj4yaRQnxMyT20raHg9fo8e4cHOBB",
    });
    Operation::post::<SecretRotated>("/v1/auth/rotate-secret", "rotateLoginSecret", answer)
        .says(Group::Sessions, "Replace the login secret", ABOUT)
        .in_session()
        .refuses(&[Code::RateLimitExceeded])
}

const ABOUT: &str = "\
Gives the account a new login secret, shown this once; the old one stops working at once. Sessions go on: end them \
with `POST /v1/auth/logout` where the old secret may be in wrong hands. Limited per account.";
