//! Counts the hits and misses of a cache as metrics.

use metrics::Counter;

/// The hit and miss counters of one cache. Both are looked up in the metrics registry once, so counting costs one
/// atomic operation.
pub(super) struct CacheMetrics {
    hits: Counter,
    misses: Counter,
}

impl CacheMetrics {
    pub(super) fn new(cache: &'static str) -> Self {
        let lookups = |result| metrics::counter!("sealpost_cache_lookups_total", "cache" => cache, "result" => result);
        Self { hits: lookups("hit"), misses: lookups("miss") }
    }

    /// Counts `found` as a hit or a miss, and returns it unchanged.
    pub(super) fn count<T>(&self, found: Option<T>) -> Option<T> {
        if found.is_some() { &self.hits } else { &self.misses }.increment(1);
        found
    }
}
