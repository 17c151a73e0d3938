//! What is remembered between requests: a bounded number of values, each for as long as somebody asks for it. Every send
//! asks several times, so that asking reads no clock and keeps no log: it marks the entry, and who goes the rounds drops
//! what bears no mark.

use std::{
    hash::Hash,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use quick_cache::{
    DefaultHashBuilder, OptionsBuilder, UnitWeighter,
    sync::{self, DefaultLifecycle},
};

/// Where it is full, what is asked for least makes room. What leaves is dropped here and now.
pub(crate) struct Cache<K, V>(sync::Cache<K, Arc<Entry<V>>>);

struct Entry<V> {
    /// Since the last time that unused entries were forgotten.
    was_used: AtomicBool,
    value: V,
}

impl<K: Eq + Hash, V: Clone> Cache<K, V> {
    pub(crate) fn new(max: usize) -> Self {
        let shards = 1 << (max / PER_SHARD_MIN).clamp(1, SHARDS_MAX).ilog2();
        // Each shard has an equal part, which the library rounds up.
        let capacity = u64::try_from(max - max % shards).unwrap_or(u64::MAX);
        let mut options = OptionsBuilder::new();
        options.shards(shards).estimated_items_capacity(max).weight_capacity(capacity);
        // Only options without a capacity are refused.
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

    pub(crate) fn forget(&self, key: &K) {
        self.0.remove(key);
    }

    /// To look at an entry so is not to ask for it.
    pub(crate) fn forget_if(&self, key: &K, is_meant: impl FnOnce(&V) -> bool) {
        self.0.remove_if(key, |entry| is_meant(&entry.value));
    }

    /// Goes through all that there is, and asks for none of it.
    pub(crate) fn names_where(&self, is_meant: impl Fn(&K, &V) -> bool) -> Vec<K>
    where
        K: Clone,
    {
        let named = self.0.iter().filter(|(key, entry)| is_meant(key, &entry.value));
        named.map(|(key, _)| key).collect()
    }

    /// Goes through all that there is: for what seldom happens.
    pub(crate) fn forget_where(&self, is_meant: impl Fn(&K, &V) -> bool) {
        self.0.retain(|key, entry| !is_meant(key, &entry.value));
    }

    /// Forgets what nobody has asked for since the last time that this was done.
    pub(crate) fn forget_unused(&self) {
        self.0.retain(|_, entry| entry.was_used.swap(false, Ordering::Relaxed));
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }
}

/// Threads that ask at once seldom meet in one.
const SHARDS_MAX: usize = 16;
/// Smaller ones would be full at very different times.
const PER_SHARD_MIN: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_goes_once_it_is_not_asked_for_between_two_rounds() {
        let cache = Cache::new(10);
        let values = [Arc::new(()), Arc::new(())];
        for (key, value) in (0..).zip(&values) {
            cache.insert(key, Arc::clone(value));
        }
        cache.forget_unused();
        assert_eq!(values.each_ref().map(Arc::strong_count), [2, 2], "both are new");
        assert!(cache.get(&0).is_some());
        cache.forget_unused();
        assert_eq!(values.each_ref().map(Arc::strong_count), [2, 1], "dropped here and now");
        cache.forget_unused();
        assert_eq!((cache.get(&0), cache.len()), (None, 0));
    }

    #[test]
    fn no_more_is_remembered_than_may_be() {
        for max in [0, 1, 63, 101, 1_007, 10_007] {
            let cache = Cache::new(max);
            for key in 0..3 * max {
                cache.insert(key, key);
            }
            assert!((max - max / 10..=max).contains(&cache.len()), "{} of {max}", cache.len());
        }
    }

    #[test]
    fn the_last_value_counts_and_what_is_forgotten_is_gone() {
        let cache = Cache::new(10);
        for (key, value) in [("key", 1), ("key", 2), ("other", 2), ("third", 3)] {
            cache.insert(key, value);
        }
        assert_eq!(cache.get(&"key"), Some(2));
        cache.forget(&"key");
        assert_eq!(cache.get(&"key"), None);
        cache.forget_where(|_, value| *value == 2);
        assert_eq!([cache.get(&"other"), cache.get(&"third")], [None, Some(3)]);
    }
}
