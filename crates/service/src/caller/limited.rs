//! The limits of the caller's key, returned with every response that reached the check of rate limits.

use sealpost_domain::{Plan, Timestamp, Usage};
use sealpost_limits::{Terms, UsageReport, report};

use crate::error::Error;

/// The result of a use case, and the caller's limits after it.
pub struct Limited<T> {
    /// The response, or the error.
    pub result: Result<T, Error>,
    /// `None` if the request was refused before the rate check.
    pub limits: Option<Limits>,
}

/// The plan and the usage of a key at an instant.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    pub(crate) plan: Plan,
    pub(crate) usage: Usage,
    pub(crate) now: Timestamp,
}

impl Limits {
    /// Returns each limit with its usage and the time of its reset.
    pub fn report(&self) -> UsageReport {
        report(&Terms::of(&self.plan), &self.usage, self.now)
    }

    /// Returns the instant of the usage.
    pub fn now(&self) -> Timestamp {
        self.now
    }
}

impl<T> Limited<T> {
    /// Wraps an error that occurred before the check of rate limits.
    pub(crate) fn before_rate_check(error: impl Into<Error>) -> Self {
        Self { result: Err(error.into()), limits: None }
    }

    /// Converts a successful response. The limits stay.
    pub fn map<U>(self, convert: impl FnOnce(T) -> U) -> Limited<U> {
        Limited { result: self.result.map(convert), limits: self.limits }
    }

    /// Transforms a successful response. The limits stay.
    pub(crate) fn and_then<U>(self, next: impl FnOnce(T) -> Result<U, Error>) -> Limited<U> {
        Limited { result: self.result.and_then(next), limits: self.limits }
    }
}
