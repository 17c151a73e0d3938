//! What limits say to every request that reaches them: where the caller stands, whether it was admitted or not.

use sealpost_domain::{Plan, Timestamp, Usage};
use sealpost_limits::{Terms, UsageReport, report};

use crate::Error;

/// What a use case came to, and where the caller's limits stand after it.
pub struct Limited<T> {
    /// The answer, or why there is none.
    pub result: Result<T, Error>,
    /// `None` where the request did not get as far as the rate check.
    pub limits: Option<Limits>,
}

/// Where a key's limits stand.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    pub(crate) plan: Plan,
    pub(crate) usage: Usage,
    pub(crate) now: Timestamp,
}

impl Limits {
    /// Limits, what was used of them, and when they begin anew.
    pub fn report(&self) -> UsageReport {
        report(&Terms::of(&self.plan), &self.usage, self.now)
    }

    /// When this was true.
    pub fn now(&self) -> Timestamp {
        self.now
    }
}

impl<T> Limited<T> {
    /// What was refused before the rate check.
    pub(crate) fn unasked(error: impl Into<Error>) -> Self {
        Self { result: Err(error.into()), limits: None }
    }

    /// Goes on with an answer; the limits stay what they are.
    pub(crate) fn and_then<U>(self, next: impl FnOnce(T) -> Result<U, Error>) -> Limited<U> {
        Limited { result: self.result.and_then(next), limits: self.limits }
    }
}
