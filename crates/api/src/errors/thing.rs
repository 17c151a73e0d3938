//! What is not there, or is somebody else's.

use sealpost_domain::Refusal;

use super::{Meaning, Retry};
use crate::http::Problem;

pub(super) const ENVELOPE_NOT_FOUND: Meaning = Meaning {
    means: "There is no such envelope for this recipient. Somebody else's looks the same.",
    when: &[
        "The id is not that of an envelope to the key that the request names.",
        "The envelope was kept as long as envelopes are (30 days by default) and is deleted.",
        "The key was revoked while the request was under way: what was sealed to it cannot be opened any more.",
    ],
    remedy: &[
        "Use the `envelope_id` of the notice that your webhook received.",
        "Act as the key that the envelope was sent to; an account may have several.",
    ],
    retry: Retry::Changed,
    example: || Refusal::EnvelopeNotFound.into(),
};

pub(super) const HANDLE_TAKEN: Meaning = Meaning {
    means: "The handle belongs to another account, or to a key that is not revoked.",
    when: &[
        "An activation names a handle that somebody has. Handles are unique across the service, and upper case is lowered.",
    ],
    remedy: &[
        "Choose another handle, or activate without one.",
        "To move a handle of yours to a new key, revoke the old key first, and activate in a session of the same account.",
    ],
    retry: Retry::Changed,
    example: || Refusal::HandleTaken.into(),
};

pub(super) const NOT_FOUND: Meaning = Meaning {
    means: "There is nothing at this path.",
    when: &[
        "The path has a typing error, or a version that does not exist.",
        "A proxy in front adds or takes away a part of the path.",
    ],
    remedy: &["Compare the address with the reference."],
    retry: Retry::Changed,
    example: || Problem::NotFound,
};

pub(super) const WEBHOOK_NOT_FOUND: Meaning = Meaning {
    means: "This key has no such webhook. Somebody else's looks the same.",
    when: &[
        "The webhook was deleted, or belongs to another key.",
        "The key that had it was revoked: its webhooks went with it.",
    ],
    remedy: &["List the key's webhooks with `{\"action\": \"list\"}` at `POST /v1/webhooks`."],
    retry: Retry::Changed,
    example: || Refusal::WebhookNotFound.into(),
};
