//! A bounded concurrent map that evicts unused entries.
//!
//! Each send reads several of these maps, so a read must be cheap. It only sets a flag of the entry, without a clock or
//! an ordered list. [`BoundedCache::evict_unused`], which runs periodically, removes the entries without the flag and
//! clears all flags.

use std::{
    hash::Hash,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use metrics::Counter;
use quick_cache::{
    DefaultHashBuilder, OptionsBuilder, UnitWeighter,
    sync::{self, DefaultLifecycle},
};

/// A bounded concurrent map. A full map evicts the entries that are read least often. An evicted value is dropped at
/// once.
pub(crate) struct BoundedCache<K, V>(sync::Cache<K, Arc<Entry<V>>>);

struct Entry<V> {
    /// True if the entry was inserted or read since the last call of [`BoundedCache::evict_unused`].
    was_used: AtomicBool,
    value: V,
}

impl<K: Eq + Hash, V: Clone> BoundedCache<K, V> {
    pub(crate) fn new(max: usize) -> Self {
        let shards = 1 << (max / PER_SHARD_MIN).clamp(1, SHARDS_MAX).ilog2();
        // Rounds the capacity down to a multiple of the number of shards, because `quick_cache` rounds up the capacity
        // of each shard.
        let capacity = u64::try_from(max - max % shards).unwrap_or(u64::MAX);
        let mut options = OptionsBuilder::new();
        options.shards(shards).estimated_items_capacity(max).weight_capacity(capacity);
        // `build` fails only if the options have no capacity, so the alternative is never used.
        Self(options.build().map_or_else(
            |_incomplete| sync::Cache::new(max),
            |options| {
                let (hasher, lifecycle) =
                    (DefaultHashBuilder::default(), DefaultLifecycle::default());
                sync::Cache::with_options(options, UnitWeighter, hasher, lifecycle)
            },
        ))
    }

    pub(crate) fn get(&self, key: &K) -> Option<V> {
        let entry = self.0.get(key)?;
        entry.was_used.store(true, Ordering::Relaxed);
        Some(entry.value.clone())
    }

    pub(crate) fn insert(&self, key: K, value: V) {
        self.0.insert(key, Arc::new(Entry { was_used: AtomicBool::new(true), value }));
    }

    pub(crate) fn remove(&self, key: &K) {
        self.0.remove(key);
    }

    /// Removes an entry if `matches` is true for its value. Does not count as a read.
    pub(crate) fn remove_if(&self, key: &K, matches: impl FnOnce(&V) -> bool) {
        self.0.remove_if(key, |entry| matches(&entry.value));
    }

    /// Returns the keys of all entries for which `matches` is true. Scans the whole map. Does not count as a read.
    pub(crate) fn keys_where(&self, matches: impl Fn(&K, &V) -> bool) -> Vec<K>
    where
        K: Clone,
    {
        let matching = self.0.iter().filter(|(key, entry)| matches(key, &entry.value));
        matching.map(|(key, _)| key).collect()
    }

    /// Removes all entries for which `matches` is true. Scans the whole map, so it is only for rare events.
    pub(crate) fn remove_where(&self, matches: impl Fn(&K, &V) -> bool) {
        self.0.retain(|key, entry| !matches(key, &entry.value));
    }

    /// Removes all entries that were neither inserted nor read since the last call.
    pub(crate) fn evict_unused(&self) {
        self.0.retain(|_key, entry| entry.was_used.swap(false, Ordering::Relaxed));
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }
}

/// Maximum number of shards. With 16 shards, concurrent threads rarely need the same shard.
const SHARDS_MAX: usize = 16;
/// Minimum capacity of a shard. With smaller shards, some shards would be full long before the whole map is.
const PER_SHARD_MIN: usize = 64;

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_without_a_read_between_two_rounds_is_evicted() {
        let cache = BoundedCache::new(10);
        let values = [Arc::new(()), Arc::new(())];
        for (key, value) in (0..).zip(&values) {
            cache.insert(key, Arc::clone(value));
        }
        cache.evict_unused();
        assert_eq!(values.each_ref().map(Arc::strong_count), [2, 2], "both are new");
        assert!(cache.get(&0).is_some());
        cache.evict_unused();
        assert_eq!(values.each_ref().map(Arc::strong_count), [2, 1], "dropped at once");
        cache.evict_unused();
        assert_eq!((cache.get(&0), cache.len()), (None, 0));
    }

    #[test]
    fn the_number_of_entries_is_bounded() {
        for max in [0, 1, 63, 101, 1_007, 10_007] {
            let cache = BoundedCache::new(max);
            for key in 0..3 * max {
                cache.insert(key, key);
            }
            assert!((max - max / 10..=max).contains(&cache.len()), "{} of {max}", cache.len());
        }
    }

    #[test]
    fn the_last_value_replaces_the_others_and_a_removed_one_is_gone() {
        let cache = BoundedCache::new(10);
        for (key, value) in [("key", 1), ("key", 2), ("other", 2), ("third", 3)] {
            cache.insert(key, value);
        }
        assert_eq!(cache.get(&"key"), Some(2));
        cache.remove(&"key");
        assert_eq!(cache.get(&"key"), None);
        cache.remove_where(|_, value| *value == 2);
        assert_eq!([cache.get(&"other"), cache.get(&"third")], [None, Some(3)]);
    }
}
