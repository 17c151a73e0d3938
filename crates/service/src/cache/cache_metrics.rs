//! Hit and miss counters of a cache, through the `metrics` facade.

use metrics::Counter;

/// Hit and miss counters of one cache. Holds the counters' handles, so counting costs one atomic operation.
pub(super) struct CacheMetrics {
    hits: Counter,
    misses: Counter,
}

impl CacheMetrics {
    pub(super) fn new(cache: &'static str) -> Self {
        let lookups = |result| metrics::counter!("sealpost_cache_lookups_total", "cache" => cache, "result" => result);
        Self { hits: lookups("hit"), misses: lookups("miss") }
    }

    /// Counts a hit or a miss, and returns `found` unchanged.
    pub(super) fn count<T>(&self, found: Option<T>) -> Option<T> {
        if found.is_some() { &self.hits } else { &self.misses }.increment(1);
        found
    }
}
