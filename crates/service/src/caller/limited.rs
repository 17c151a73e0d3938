//! The result of a request, together with the rate limits of the caller's key for the response headers.

use sealpost_domain::{Plan, Timestamp, Usage};
use sealpost_limits::{Terms, UsageReport, report};

use crate::error::Error;

/// The result of a request, and the rate limits of the caller's key after it.
pub struct Limited<T> {
    /// The result: a response or an error.
    pub result: Result<T, Error>,
    /// The rate limits of the key. `None` if the request was refused before the rate limits were checked.
    pub limits: Option<Limits>,
}

/// The plan and the usage of an API key at one point in time.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    pub(crate) plan: Plan,
    pub(crate) usage: Usage,
    pub(crate) now: Timestamp,
}

impl Limits {
    /// Returns each limit with its usage and the time of its reset.
    pub fn report(&self) -> UsageReport {
        report(&Terms::new(&self.plan), &self.usage, self.now)
    }

    /// Returns the time at which the usage was read.
    pub fn now(&self) -> Timestamp {
        self.now
    }
}

impl<T> Limited<T> {
    /// Wraps an error that occurred before the rate limits were checked.
    pub(crate) fn before_rate_check(error: impl Into<Error>) -> Self {
        Self { result: Err(error.into()), limits: None }
    }

    /// Converts a successful result, and keeps the limits.
    pub fn map<U>(self, convert: impl FnOnce(T) -> U) -> Limited<U> {
        Limited { result: self.result.map(convert), limits: self.limits }
    }

    /// Converts a successful result with a function that can fail, and keeps the limits.
    pub(crate) fn and_then<U>(self, next: impl FnOnce(T) -> Result<U, Error>) -> Limited<U> {
        Limited { result: self.result.and_then(next), limits: self.limits }
    }
}
