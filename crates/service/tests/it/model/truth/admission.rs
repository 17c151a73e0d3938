//! Predicts if a request is admitted and counted. The order of the checks is that of the API contract.

use super::{Called, Caller, Key, Refused, RefusedBefore, Said, Shown, Truth, UNAUTHORIZED};

/// The kind of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Act {
    /// A request that a governance decision can block.
    Execute,
    /// A request that is allowed even while a governance decision blocks the key.
    Manage,
}

impl Truth {
    /// Predicts the response to a request. If the request is admitted, `judge` predicts its result, and the request
    /// counts unless this result is a rate limit or the monthly limit.
    pub(super) fn answer<T>(
        &mut self,
        caller: Caller,
        act: Act,
        judge: impl FnOnce(&mut Self, usize) -> Result<T, Refused>,
    ) -> Said<T> {
        if let Some(said) = self.recall(caller) {
            return said;
        }
        let (session, key) = match self.identify(caller, act) {
            Ok(identified) => identified,
            Err(refused) => return Said { result: Err(refused), limits: None },
        };
        let now = self.now;
        let Key { terms, used, .. } = &self.keys[key];
        if let Some(until) = used.full_until(terms, now) {
            let limits = Some(used.shown(terms, now));
            let remembered = RefusedBefore { at: now, until, terms: *terms, used: used.clone() };
            self.remembered.insert((session, key), remembered);
            let refused = Refused::until("RATE_LIMIT_EXCEEDED", now, until);
            return Said { result: Err(refused), limits };
        }
        let result = judge(self, key);
        let limited = ["RATE_LIMIT_EXCEEDED", "MONTHLY_LIMIT_EXCEEDED"];
        let key = &mut self.keys[key];
        if result.as_ref().err().is_none_or(|refused| !limited.contains(&refused.code)) {
            key.used.count_request(now);
        }
        Said { result, limits: Some(key.used.shown(&key.terms, now)) }
    }

    /// Returns the earlier response with status 429, if the same session and key exceeded the limit per minute or per
    /// day less than a second ago. Returns `None` if the minute or day has ended since, or if the session has
    /// ended.
    fn recall<T>(&self, caller: Caller) -> Option<Said<T>> {
        let (Shown::Session(session), Called::Key(key)) = (caller.shown, caller.called) else {
            return None;
        };
        let RefusedBefore { at, until, terms, used } = self.remembered.get(&(session, key))?;
        if !self.is_live(session) || self.now - at >= 1000 || self.now >= *until {
            return None;
        }
        let refused = Refused::until("RATE_LIMIT_EXCEEDED", self.now, *until);
        Some(Said { result: Err(refused), limits: Some(used.shown(terms, self.now)) })
    }

    /// Performs all checks that come before the rate limits. Returns the indexes of the session and the key.
    fn identify(&self, caller: Caller, act: Act) -> Result<(usize, usize), Refused> {
        let account = self.authenticate(caller.shown)?;
        let Shown::Session(session) = caller.shown else { return Err(UNAUTHORIZED) };
        let key = match caller.called {
            Called::Unreadable => return Err(Refused::new("INVALID_JSON")),
            Called::Absent => return Err(UNAUTHORIZED),
            Called::Malformed | Called::Unknown => return Err(Refused::new("KEY_NOT_FOUND")),
            Called::Key(key) => key,
        };
        if self.keys[key].account != account {
            return Err(UNAUTHORIZED);
        }
        if self.keys[key].status != "active" {
            return Err(Refused::new("KEY_INACTIVE"));
        }
        if act != Act::Manage && self.is_blocked(key) {
            return Err(Refused::new("GOVERNANCE_BLOCKED"));
        }
        Ok((session, key))
    }
}
