//! The data that a node caches between requests.
//!
//! Cached data may be out of date, so every transaction reads the rows again that it depends on. Entries leave the
//! cache by expiry, by eviction, and by [`KeyCache::invalidate_on`](key_cache::KeyCache), the only function that
//! removes entries because of a change.

pub(crate) mod bounded_cache;
pub(crate) mod cached_key;
pub(crate) mod channel_cache;
pub(crate) mod key_cache;
pub(crate) mod load;
pub(crate) mod rate_limit_cache;
pub(crate) mod secret_vault;
