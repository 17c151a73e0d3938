//! `POST /v1/did/activate`.

use sealpost_domain::Code;
use sealpost_service::{Activate, Activated};
use serde_json::json;

use super::{Group, Operation};

pub(super) fn operation() -> Operation {
    let answer = json!({
        "api_key_id": "ak_01m7ye92k0ejgs32r4n1j3x7m3",
        "label": "Bob",
        "handle": "bob",
        "did": "did:key:z6MksVWKWtyHa9uFEG7z7nJVe4VsP3EJ4fYnNpc95ohVKNrR",
        "status": "active",
        "plan": "explorer",
        "account_id": "acct_01m7ye92k0e5wsvs5qjndehdka",
        "created_at": "2026-11-21T06:56:38.496Z",
        "login_secret": "ls_t8K8ofmMkUDSQ5RpLi2vPj4yaRQnxMyT20raHg9fo8e4cHOBB",
    });
    Operation::post::<Activated>("/v1/did/activate", "activate", answer)
        .says(Group::Identities, "Activate an identity", ABOUT)
        .perhaps_in_session()
        .takes::<Activate>(vec![
            ("With a handle", json!({ "label": "Bob", "handle": "bob" })),
            ("By key alone", json!({ "label": "Alice" })),
        ])
        .refuses(&[
            Code::MissingField,
            Code::InvalidField,
            Code::QuotaExceeded,
            Code::HandleTaken,
            Code::RateLimitExceeded,
        ])
}

const ABOUT: &str = "\
Makes an API key, a DID and, where asked for, a handle. Without a token this opens a new account, and `login_secret` \
is shown this once: keep it. With a session token the identity joins that account. The handle of a revoked key may be \
taken again by its own account alone. Limited per client address.";
