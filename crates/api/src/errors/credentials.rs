//! Documentation of the errors about credentials, and about the API keys of the caller and the recipient.

use sealpost_domain::{KeyStatus, Refusal, TokenScope};

use super::{ErrorDocumentation, Retry};

pub(super) const ACTIVATION_REFUSED: ErrorDocumentation = ErrorDocumentation {
    summary: "A new account cannot be opened: sign-up is closed, or needs an invite that this request does not have.",
    causes: &[
        "The operator has closed sign-up.",
        "Sign-up needs an invite, and the request has no `invite`. Then `field` is `invite`.",
        "The invite does not exist, is used up, has expired or was revoked.",
    ],
    remedies: &[
        "Ask the operator of the service for an invite, and send its secret (`inv_…`) as `invite`.",
        "To activate a further identity of an existing account, send its session token. This needs no invite.",
    ],
    retry: Retry::Changed,
    example: || Refusal::InviteRequired.into(),
};

pub(super) const GOVERNANCE_BLOCKED: ErrorDocumentation = ErrorDocumentation {
    summary: "Governance blocks the caller, or the recipient if `field` is `to`.",
    causes: &[
        "A council action against the key or its account is in force.",
        "The partner of the account is suspended.",
    ],
    remedies: &[
        "Read `governance` in the response of `POST /v1/did/status`, which still works. It lists each reason and its start.",
        "Ask the operator of the service to lift the block.",
    ],
    retry: Retry::Changed,
    example: || Refusal::GovernanceBlocked { field: None }.into(),
};

pub(super) const INSUFFICIENT_SCOPE: ErrorDocumentation = ErrorDocumentation {
    summary: "The API token does not allow this request.",
    causes: &[
        "The token does not have the scope of the endpoint.",
        "The endpoint concerns the account, such as activation, secrets, tokens and policy. It accepts session tokens only.",
    ],
    remedies: &[
        "Create an API token with the scope that `detail` names: `POST /v1/auth/tokens/create`.",
        "For the account: log in, and send the session token.",
    ],
    retry: Retry::Changed,
    example: || Refusal::InsufficientScope { needed: &[TokenScope::Send] }.into(),
};

pub(super) const KEY_INACTIVE: ErrorDocumentation = ErrorDocumentation {
    summary: "The API key is revoked, deactivated or rotating. If `field` is `to`, this is the key of the recipient.",
    causes: &[
        "The key is revoked. This is permanent: each use of the key gets this response.",
        "An operator has deactivated the key.",
        "The key is rotating. This takes a moment, and the response carries `Retry-After`.",
    ],
    remedies: &[
        "Revoked: activate a new key, register its webhooks, and switch the application to it.",
        "Deactivated: ask the operator to reactivate it.",
        "With `Retry-After`: wait as long and retry.",
        "Recipient: ask for its new key, or send to its handle.",
    ],
    retry: Retry::Changed,
    example: || Refusal::KeyInactive { status: KeyStatus::Revoked, field: None }.into(),
};

pub(super) const KEY_NOT_FOUND: ErrorDocumentation = ErrorDocumentation {
    summary: "The API key or handle does not exist. If `field` is `to`, this is the recipient.",
    causes: &[
        "The key of the request was never issued, or is not a well-formed key.",
        "`to` is an unknown key or handle.",
    ],
    remedies: &[
        "Compare the key with the `api_key_id` of the activation: `ak_` and 26 characters, all lower case.",
        "Ask the recipient for its API key or handle.",
    ],
    retry: Retry::Changed,
    example: || Refusal::KeyNotFound { field: Some("to") }.into(),
};

pub(super) const RECIPIENT_REFUSES: ErrorDocumentation = ErrorDocumentation {
    summary: "The recipient does not accept messages from this API key.",
    causes: &[
        "The policy of the recipient refuses this sender. The response is the same for every reason.",
    ],
    remedies: &[
        "Ask the recipient to allow this API key, in another way than through this service.",
    ],
    retry: Retry::Changed,
    example: || Refusal::RecipientRefuses.into(),
};

pub(super) const UNAUTHORIZED: ErrorDocumentation = ErrorDocumentation {
    summary: "Credentials are missing or not valid.",
    causes: &[
        "The `Authorization: Bearer` header is absent, or its token is malformed, expired, logged out or revoked.",
        "Neither `X-DID-API-Key` nor `api_key_id` in the body names an API key.",
        "The API key belongs to another account than the session, or the API token is for another key.",
        "At login and recovery: the account or its secret is wrong. The response is the same for both.",
        "The `login_secret` that confirms a change of the account is wrong.",
    ],
    remedies: &[
        "Log in with `POST /v1/auth/login` and send the new token, or create another API token.",
        "Send the token together with an API key of the same account.",
    ],
    retry: Retry::Changed,
    example: || {
        Refusal::Unauthorized(
            "the token is not valid or no longer valid; log in again, or create another API token",
        )
        .into()
    },
};
