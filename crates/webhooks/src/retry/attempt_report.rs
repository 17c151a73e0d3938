//! The result of an attempt, before it is decided whether a retry follows.

use sealpost_domain::{AttemptFailure, ReceiverResponse};

use super::retry_after::RetryAfter;

/// The result of one attempt.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct AttemptReport {
    /// `Ok` if the receiver responded with a 2xx status before the timeout.
    pub(crate) result: Result<(), AttemptFailure>,
    pub(crate) response: Option<ReceiverResponse>,
    /// The reason of a failure without a response, for [`AttemptResult`](sealpost_domain::AttemptResult).
    pub(crate) error_detail: Option<String>,
    /// The delay that the header `Retry-After` requests. Read only with the statuses 429 and 503.
    pub(crate) retry_after: Option<RetryAfter>,
    /// True if the response has the header `webhook-delivery: abort-message`: the receiver requests no further attempt
    /// of this delivery.
    pub(crate) is_aborted: bool,
}

impl AttemptReport {
    /// Returns the report of an attempt without a response.
    pub(crate) fn failed(failure: AttemptFailure) -> Self {
        Self {
            result: Err(failure),
            response: None,
            error_detail: None,
            retry_after: None,
            is_aborted: false,
        }
    }

    /// Returns true if the target responded, with any status. Also returns true if the headers of its response were too
    /// large.
    pub(crate) fn has_response(&self) -> bool {
        self.response.is_some() || self.result == Err(AttemptFailure::TooLarge)
    }
}
