//! Caches rate-limit refusals, so that a client over its limit does not cause a transaction for each request. The
//! transaction would lock the usage row of the key, and all sends with this key would wait for the lock.
//!
//! Only refusals by the limits per minute and per day are cached. An entry applies to one pair of session and API key.
//! A transaction authenticates the pair before the entry is created, so the cache need not authenticate it again.

use std::time::Duration;

use sealpost_domain::{ApiKeyId, Clock, Refusal, Timestamp, Window};

use super::bounded_cache::BoundedCache;
use crate::caller::{admission::Limits, credentials::CallerId};

/// Rate-limit refusals by session and key. An entry is valid for a second.
pub(crate) struct RateLimitCache(BoundedCache<CallerId, CachedRateLimit>);

#[derive(Debug, Clone)]
struct CachedRateLimit {
    window: Window,
    limit: u32,
    until: Timestamp,
    limits: Limits,
}

impl RateLimitCache {
    pub(super) fn new(entries_max: usize) -> Self {
        Self(BoundedCache::new(entries_max))
    }

    /// Returns the cached refusal and the limits of the key. Returns `None` if there is no entry, or if the entry has
    /// expired.
    pub(super) fn get(&self, caller: &CallerId, clock: &dyn Clock) -> Option<(Refusal, Limits)> {
        let CachedRateLimit { window, limit, until, limits } = self.0.get(caller)?;
        let now = clock.now();
        let still_holds = now.abs_diff(limits.now) < CACHED_FOR && now < until;
        still_holds.then(|| {
            let refusal = Refusal::RateLimited { window, limit, retry_after: until.since(now) };
            (refusal, Limits { now, ..limits })
        })
    }

    /// Caches a refusal by the limit per minute or per day. Ignores other refusals.
    pub(super) fn insert(&self, caller: CallerId, refusal: &Refusal, limits: Limits) {
        if let &Refusal::RateLimited {
            window: window @ (Window::Day | Window::Minute),
            limit,
            retry_after,
        } = refusal
        {
            let until = limits.now.plus(retry_after);
            self.0.insert(caller, CachedRateLimit { window, limit, until, limits });
        }
    }

    /// Removes the refusals of a key. Scans the whole cache, so it is only for rare events.
    pub(super) fn remove_key(&self, key: &ApiKeyId) {
        self.0.remove_where(|caller, _| caller.key == *key);
    }

    pub(super) fn evict_unused(&self) {
        self.0.evict_unused();
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }
}

/// Maximum age of a cached refusal. During this time, a client over its limit can get status 429 although another node
/// has ended its session, revoked its key or changed its plan. With one second, each client over its limit causes at
/// most one transaction a second.
const CACHED_FOR: Duration = Duration::from_secs(1);
