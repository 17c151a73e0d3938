//! What is wrong with who calls, or with whom it is for.

use sealpost_domain::{KeyStatus, Refusal};

use super::{Meaning, Retry};

pub(super) const GOVERNANCE_BLOCKED: Meaning = Meaning {
    means: "Governance prevents execution, for the caller or, where `field` is `to`, for the recipient.",
    when: &[
        "A council action on the key or its account is enforced.",
        "The partner that the account belongs to is suspended.",
    ],
    remedy: &[
        "Read `governance` in `POST /v1/did/status`, which goes on working: it names each reason and since when it holds.",
        "Ask the operator of the service to lift it.",
    ],
    retry: Retry::Changed,
    example: || Refusal::GovernanceBlocked { field: None }.into(),
};

pub(super) const KEY_INACTIVE: Meaning = Meaning {
    means: "The API key is not active: revoked, deactivated or being rotated. Where `field` is `to`, it is the recipient's.",
    when: &[
        "The key is revoked, which is for good: any use of it gets this answer.",
        "An operator has deactivated the key.",
        "The key is being rotated. This takes a moment, and the answer carries `Retry-After`.",
    ],
    remedy: &[
        "Revoked: activate a new key, register its webhooks again and switch over to it.",
        "Deactivated: ask the operator to reactivate it.",
        "With `Retry-After`: wait that long and try again.",
        "The recipient's: ask it for its new key, or send to its handle.",
    ],
    retry: Retry::Changed,
    example: || Refusal::KeyInactive { status: KeyStatus::Revoked, field: None }.into(),
};

pub(super) const KEY_NOT_FOUND: Meaning = Meaning {
    means: "No such API key or handle. Where `field` is `to`, it is the recipient that is not known.",
    when: &[
        "The key that the request names was never issued, or is no well-formed key.",
        "Nobody has the key or handle that `to` names.",
    ],
    remedy: &[
        "Compare the key with the `api_key_id` that activation returned: `ak_` and 26 characters, all lower case.",
        "Ask the recipient for its API key or handle.",
    ],
    retry: Retry::Changed,
    example: || Refusal::KeyNotFound { field: Some("to") }.into(),
};

pub(super) const UNAUTHORIZED: Meaning = Meaning {
    means: "Credentials are missing or not valid.",
    when: &[
        "There is no `Authorization: Bearer` header, or its token is malformed, expired or logged out.",
        "No API key is named, neither in `X-DID-API-Key` nor as `api_key_id` in the body.",
        "The API key belongs to another account than the session.",
        "At login: the account or its secret is wrong. Which of them is not told.",
    ],
    remedy: &[
        "Log in with `POST /v1/auth/login` and send the new token.",
        "Send both the token and one of the account's own keys.",
    ],
    retry: Retry::Changed,
    example: || {
        Refusal::Unauthorized("the session token is not valid or no longer valid; log in again")
            .into()
    },
};
