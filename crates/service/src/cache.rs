//! Data that a node caches between requests.
//!
//! Cached data is a hint: every transaction reads the authoritative rows. [`KeyCache::invalidate_on`](key_cache::KeyCache)
//! is the only way out of the cache, besides eviction.

pub(crate) mod bounded_cache;
pub(crate) mod cache_metrics;
pub(crate) mod cached_key;
pub(crate) mod channel_cache;
pub(crate) mod event;
pub(crate) mod key_cache;
pub(crate) mod load;
pub(crate) mod rate_limit_cache;
pub(crate) mod refusals;
pub(crate) mod review;
pub(crate) mod secret_vault;
