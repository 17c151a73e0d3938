//! Callers that are known to be refused until some instant: a client that hammers on is refused from memory, without
//! the database. Only what a minute or a day refused is remembered, for exactly the session and key that the
//! transaction had let through so far, and only for a moment, since a change of plan holds within seconds.

use std::time::Duration;

use sealpost_domain::{Refusal, Timestamp, Window};

use crate::{Error, Limited, Limits, credentials::Caller, sealpost::Core};

/// Until when a key is refused, and by what.
#[derive(Debug, Clone)]
pub(crate) struct Refused {
    window: Window,
    limit: u32,
    until: Timestamp,
    limits: Limits,
}

impl Core {
    /// The refusal of a caller while the limit is known to hold.
    pub(crate) fn known_refusal<T>(&self, caller: &Caller) -> Option<Limited<T>> {
        let refused = self.known.refused(caller)?;
        let now = self.clock.now();
        let still_holds = now.abs_diff(refused.limits.now) < REMEMBERED_FOR && now < refused.until;
        still_holds.then(|| {
            let Refused { window, limit, until, limits, .. } = refused;
            let refusal = Refusal::RateLimited { window, limit, retry_after: until.since(now) };
            let limits = Some(Limits { now, ..limits });
            Limited { result: Err(Error::Refused(refusal)), limits }
        })
    }

    /// Remembers what the minute or the day refused.
    pub(crate) fn remember_refusal(&self, caller: &Caller, refusal: &Refusal, limits: Limits) {
        if let &Refusal::RateLimited {
            window: window @ (Window::Day | Window::Minute),
            limit,
            retry_after,
        } = refusal
        {
            let until = limits.now.plus(retry_after);
            self.known.remember_refused(*caller, Refused { window, limit, until, limits });
        }
    }
}

/// Less than the five seconds within which a change of plan holds everywhere.
const REMEMBERED_FOR: Duration = Duration::from_secs(4);
