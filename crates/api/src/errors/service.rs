//! What is the service's fault, or the network's.

use sealpost_domain::Refusal;

use super::{Meaning, Retry};
use crate::http::Problem;

pub(super) const INTERNAL_ERROR: Meaning = Meaning {
    means: "Something went wrong in the service, which has logged it under `request_id`.",
    when: &[
        "The connection to the database was lost while it committed, so that nobody knows whether the request was done.",
        "Otherwise a fault that nobody foresaw, which is always worth a report.",
    ],
    remedy: &[
        "Try again, more slowly each time: a send with its `Idempotency-Key`; what has none only when you have looked \
         whether it was done.",
        "Report the `request_id` to the operator if it persists.",
    ],
    retry: Retry::Idempotent,
    example: || Problem::Lost,
};

pub(super) const REQUEST_TIMEOUT: Meaning = Meaning {
    means: "The request did not arrive in time.",
    when: &[
        "The body took longer than 10 s (by default), because the network is slow or the client stalled.",
    ],
    remedy: &["Send the whole body at once, or from a better network."],
    retry: Retry::AtOnce,
    example: || Problem::BodyTimeout,
};

pub(super) const SERVICE_UNAVAILABLE: Meaning = Meaning {
    means: "The service cannot take this request now, and has stored nothing of it.",
    when: &[
        "The database is away.",
        "More sends are waiting than the service lets wait, and it sheds load.",
        "The body has more than 16 KiB, and others take the memory that there is for such bodies. It is not read on.",
    ],
    remedy: &["Wait as long as `Retry-After` says and try again, more slowly each time."],
    retry: Retry::AfterWaiting,
    example: || Refusal::Unavailable.into(),
};
