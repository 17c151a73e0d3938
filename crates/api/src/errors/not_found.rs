//! Documentation of the errors about things that do not exist, or that belong to another account or key.

use sealpost_domain::Refusal;

use super::{ErrorDocumentation, Retry};
use crate::response::Problem;

pub(super) const ENVELOPE_NOT_FOUND: ErrorDocumentation = ErrorDocumentation {
    summary: "This recipient has no such envelope. An envelope for another key gets the same response.",
    causes: &[
        "The id does not belong to an envelope for the key of the request, or from it for a receipt.",
        "The envelope was deleted at the end of its retention, after 30 days by default.",
        "The key was revoked during the request. Envelopes of a revoked key cannot be opened.",
        "`reply_to` of a message names an envelope that the key neither sent nor received, or that has expired.",
        "`redeliver` names an event of a kind that the webhook does not name in `events`.",
    ],
    remedies: &[
        "Use the `envelope_id` of the event, or of the send for a receipt.",
        "Act as the recipient's key, or as the sender's for a receipt. An account may have several keys.",
    ],
    retry: Retry::Changed,
    example: || Refusal::EnvelopeNotFound.into(),
};

pub(super) const HANDLE_TAKEN: ErrorDocumentation = ErrorDocumentation {
    summary: "The handle belongs to another account, or to a key that is not revoked.",
    causes: &[
        "An activation names a handle in use. Handles are unique across the service, and upper case becomes lower case.",
    ],
    remedies: &[
        "Choose another handle, or activate without one.",
        "To move a handle to a new key, revoke the old key first. Then activate in a session of the same account.",
    ],
    retry: Retry::Changed,
    example: || Refusal::HandleTaken.into(),
};

pub(super) const NOT_FOUND: ErrorDocumentation = ErrorDocumentation {
    summary: "The path does not exist.",
    causes: &[
        "The path has a typing error, a slash at its end, or an unknown version. `detail` names the path of the API \
         that is most similar.",
        "A proxy in front adds or removes a part of the path.",
    ],
    remedies: &["Compare the path with the API reference."],
    retry: Retry::Changed,
    example: || Problem::NotFound { nearest: Some("/v1/channel/send") },
};

pub(super) const TOKEN_NOT_FOUND: ErrorDocumentation = ErrorDocumentation {
    summary: "The account has no such API token. A token of another account gets the same response.",
    causes: &[
        "The token was revoked, or has expired and was deleted.",
        "`token_id` is the secret (`kt_…`) instead of the id (`tok_…`).",
    ],
    remedies: &["List the tokens of the account with `POST /v1/auth/tokens/list`."],
    retry: Retry::Changed,
    example: || Refusal::TokenNotFound.into(),
};

pub(super) const WEBHOOK_NOT_FOUND: ErrorDocumentation = ErrorDocumentation {
    summary: "The key has no such webhook. A webhook of another key gets the same response.",
    causes: &[
        "The webhook was deleted, or belongs to another key.",
        "The key of the webhook was revoked, which deletes its webhooks.",
    ],
    remedies: &["List the webhooks of the key with `POST /v1/webhooks/list`."],
    retry: Retry::Changed,
    example: || Refusal::WebhookNotFound.into(),
};
