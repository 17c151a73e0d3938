//! Updates the cache when a transaction refuses a request, and refuses requests whose rate-limit refusal is cached.

use sealpost_domain::{ApiKeyId, Refusal};

use super::event::CacheEvent;
use crate::{
    caller::{
        credentials::CallerId,
        limited::{Limited, Limits},
    },
    sealpost::core::Core,
};

impl Core {
    /// Updates the cache after a transaction has refused a request. Removes data that the refusal proves wrong, and
    /// caches a rate-limit refusal.
    pub(crate) fn cache_refusal(
        &self,
        caller: &CallerId,
        recipient: Option<&ApiKeyId>,
        refusal: &Refusal,
        limits: Option<Limits>,
    ) {
        if let Some(event) = CacheEvent::of_refusal(caller, recipient, refusal) {
            self.cache.invalidate_on(event);
        }
        if let Some(limits) = limits {
            self.cache.rate_limits.insert(*caller, refusal, limits);
        }
    }

    /// Returns the cached refusal if the caller has reached a rate limit. Otherwise returns `None`.
    pub(crate) fn cached_rate_limit<T>(&self, caller: &CallerId) -> Option<Limited<T>> {
        let (refusal, limits) = self.cache.rate_limits.get(caller, &*self.clock)?;
        Some(Limited { result: Err(refusal.into()), limits: Some(limits) })
    }
}
