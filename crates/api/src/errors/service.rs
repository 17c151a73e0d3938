//! Documentation of the errors that the service or the network causes.

use sealpost_domain::Refusal;

use super::{ErrorDocumentation, Retry};
use crate::response::Problem;

pub(super) const INTERNAL_ERROR: ErrorDocumentation = ErrorDocumentation {
    summary: "An unexpected error in the service. The log has it under `request_id`.",
    causes: &[
        "The database did not confirm the commit: the connection was lost, or the deadline has passed. The request may or \
         may not be stored.",
        "Otherwise a bug: please report it.",
    ],
    remedies: &[
        "Retry with increasing delays: a send with the same `Idempotency-Key`; any other request only after a check \
         of its effect.",
        "If the error persists, report the `request_id` to the operator.",
    ],
    retry: Retry::Idempotent,
    example: || Problem::Lost,
};

pub(super) const REQUEST_TIMEOUT: ErrorDocumentation = ErrorDocumentation {
    summary: "The request did not arrive in time.",
    causes: &[
        "The body took longer than 10 s (by default): a slow network or a stalled client.",
        "The first request of a connection did not begin within 5 s.",
    ],
    remedies: &["Send the whole request at once, or use a faster network."],
    retry: Retry::AtOnce,
    example: || Problem::BodyTimeout,
};

pub(super) const SERVICE_UNAVAILABLE: ErrorDocumentation = ErrorDocumentation {
    summary: "The service cannot process this request now, and stored nothing.",
    causes: &[
        "The database is not reachable.",
        "The database did not respond to a commit. Writes are refused until a probe write succeeds.",
        "The queue of sends, or of look-ups of tokens or keys, is full, so the service sheds load.",
        "The disk of the service is almost full. Only sends and activations are refused.",
        "The body exceeds 16 KiB, and other requests, or other requests of the same account, use the memory for large \
         bodies. The rest of the body is not read.",
    ],
    remedies: &["Wait for the time in `Retry-After`, and retry with increasing delays."],
    retry: Retry::AfterWaiting,
    example: || Refusal::Unavailable.into(),
};
