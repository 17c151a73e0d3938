//! The result of an attempt, before the decision about a retry.

use sealpost_domain::{AttemptFailure, ReceiverResponse};

use super::retry_after::RetryAfter;

/// The result of one attempt.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct AttemptReport {
    /// `Ok` if the receiver responded with 2xx in time.
    pub(crate) result: Result<(), AttemptFailure>,
    pub(crate) response: Option<ReceiverResponse>,
    /// The delay that the header `Retry-After` requests. Read only with the statuses 429 and 503.
    pub(crate) retry_after: Option<RetryAfter>,
    /// Whether the receiver requests no further attempt of this delivery, by the header `webhook-delivery:
    /// abort-message`.
    pub(crate) is_aborted: bool,
}

impl AttemptReport {
    /// Describes an attempt without a response.
    pub(crate) fn failed(failure: AttemptFailure) -> Self {
        Self { result: Err(failure), response: None, retry_after: None, is_aborted: false }
    }

    /// Whether the target responded at all, with any status. A response with too large a head counts too.
    pub(crate) fn has_response(&self) -> bool {
        self.response.is_some() || self.result == Err(AttemptFailure::TooLarge)
    }
}
