//! `POST /v1/auth/logout`.

use schemars::JsonSchema;
use sealpost_domain::Code;
use serde_json::json;

use super::{Group, Operation};
use crate::http::handlers::LoggedOut;

pub(super) fn operation() -> Operation {
    Operation::post::<LoggedOut>("/v1/auth/logout", "logout", json!({ "logged_out": true }))
        .says(Group::Sessions, "End a session", ABOUT)
        .in_session()
        .may_take::<Body>(vec![
            ("This session", json!({})),
            ("Every session of the account", json!({ "all": true })),
        ])
        .refuses(&[Code::InvalidField, Code::RateLimitExceeded])
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "it gives a body its form; the handler reads the field itself")]
struct Body {
    /// Ends every session of the account.
    #[schemars(default)]
    all: Option<bool>,
}

const ABOUT: &str = "Ends this session, or every session of the account, on every node at once. Limited per \
account.";
