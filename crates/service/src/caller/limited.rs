//! Limits of the caller's key, returned with every response that reached the rate check.

use sealpost_domain::{Plan, Timestamp, Usage};
use sealpost_limits::{Terms, UsageReport, report};

use crate::error::Error;

/// The result of a use case, and the caller's limits after it.
pub struct Limited<T> {
    /// The response, or the reason for none.
    pub result: Result<T, Error>,
    /// `None` if the request was refused before the rate check.
    pub limits: Option<Limits>,
}

/// Limits of a key at an instant.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    pub(crate) plan: Plan,
    pub(crate) usage: Usage,
    pub(crate) now: Timestamp,
}

impl Limits {
    /// Returns each limit with its use and the time of its reset.
    pub fn report(&self) -> UsageReport {
        report(&Terms::of(&self.plan), &self.usage, self.now)
    }

    /// The instant of these limits.
    pub fn now(&self) -> Timestamp {
        self.now
    }
}

impl<T> Limited<T> {
    /// Wraps an error from before the rate check.
    pub(crate) fn before_rate_check(error: impl Into<Error>) -> Self {
        Self { result: Err(error.into()), limits: None }
    }

    /// Continues with the response; the limits stay.
    pub(crate) fn and_then<U>(self, next: impl FnOnce(T) -> Result<U, Error>) -> Limited<U> {
        Limited { result: self.result.and_then(next), limits: self.limits }
    }
}
