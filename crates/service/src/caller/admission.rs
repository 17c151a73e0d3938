//! Decides if an authenticated request is admitted. Checks the session, the API key, governance (blocks by operators)
//! and the rate limits, in the order of the API contract.
//!
//! Uses only rows that the transaction of the request has read and locked, without access to the database or the clock.

use sealpost_domain::{
    Code, KeyStatus, Plan, Refusal, Timestamp, Usage,
    ports::{AdmissionFacts, FactsQuery, KeyFacts},
};
use sealpost_limits::{Terms, UsageReport, admit_request, report};

use super::credentials::{CallerId, FOREIGN_KEY, NO_SESSION};
use crate::error::Error;

/// The kind of a request, which decides if governance decisions can block the request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// Opens an envelope, registers a webhook or issues a badge. Governance can block such a request.
    Execute,
    /// Lists webhooks or their deliveries, or deletes a webhook. Governance cannot block such a request. If the key is
    /// not active, only the owner of the account can make such a request, on the dashboard.
    Inspect,
    /// Any other request, such as a query or a change of webhooks. Governance cannot block such a request.
    Manage,
    /// Sends a message. Governance can block such a request, and metrics count it as a send.
    Send,
}

/// Decides if a request is admitted. Adds an admitted request to the counters in `facts.usage`; the calling code must
/// store these counters. The error is the reason of a refusal.
pub(crate) fn admit(
    facts: &mut AdmissionFacts,
    caller: &CallerId,
    purpose: Purpose,
    now: Timestamp,
) -> Result<(), Refusal> {
    let key = check_token(facts, caller, now)?;
    check_state(key, purpose)?;
    let terms = Terms::new(&key.plan);
    let usage = facts.usage.entry(caller.key).or_insert(Usage::UNUSED);
    admit_request(&terms, usage, now)
}

/// Checks the token, and that its account owns the key. Returns the key.
pub(crate) fn check_token<'a>(
    facts: &'a AdmissionFacts,
    caller: &CallerId,
    now: Timestamp,
) -> Result<&'a KeyFacts, Refusal> {
    let session = facts.sessions.get(&caller.session).filter(|session| session.is_live(now));
    let session = session.ok_or(NO_SESSION)?;
    let key = facts.keys.get(&caller.key).ok_or(Refusal::KeyNotFound { field: None })?;
    if key.account_id != session.account_id {
        return Err(FOREIGN_KEY);
    }
    Ok(key)
}

/// Refuses a key that is not active, or that governance blocks for this purpose.
pub(crate) fn check_state(key: &KeyFacts, purpose: Purpose) -> Result<(), Refusal> {
    if key.status != KeyStatus::Active {
        return Err(Refusal::KeyInactive { status: key.status, field: None });
    }
    match purpose {
        Purpose::Execute | Purpose::Send if key.standing.is_blocked() => {
            Err(Refusal::GovernanceBlocked { field: None })
        }
        Purpose::Execute | Purpose::Inspect | Purpose::Manage | Purpose::Send => Ok(()),
    }
}

/// Returns the limits and the usage of the caller's key. Returns `None` if the request was refused before its rate
/// limits were checked.
pub(crate) fn limits_reached(
    admitted: &Result<(), Refusal>,
    facts: &AdmissionFacts,
    caller: &CallerId,
    now: Timestamp,
) -> Option<Limits> {
    if admitted.as_ref().is_err_and(|refusal| refusal.code() != Code::RateLimitExceeded) {
        return None;
    }
    let plan = facts.keys.get(&caller.key)?.plan;
    let usage = *facts.usage.get(&caller.key)?;
    Some(Limits { plan, usage, now })
}

/// Selects the rows that [`admit`] needs for a single request: the session, and the key with its usage.
pub(crate) fn query_of(caller: &CallerId) -> FactsQuery {
    FactsQuery {
        sessions: vec![caller.session],
        callers: vec![caller.key],
        ..FactsQuery::default()
    }
}

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
