//! What is remembered between requests: a bounded number of values, each for as long as somebody asks for it. Every send
//! asks several times, so that asking reads no clock and writes to nothing but the entry itself.

use std::{
    hash::Hash,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use quick_cache::sync;

/// Where it is full, what is asked for least makes room. What leaves is dropped here and now.
pub(crate) struct Cache<K, V>(sync::Cache<K, Arc<Entry<V>>>);

struct Entry<V> {
    /// Since the last time that unused entries were forgotten.
    was_used: AtomicBool,
    value: V,
}

impl<K: Eq + Hash, V: Clone> Cache<K, V> {
    pub(crate) fn new(max: usize) -> Self {
        Self(sync::Cache::new(max))
    }

    pub(crate) fn get(&self, key: &K) -> Option<V> {
        let entry = self.0.get(key)?;
        // Looked at first, since writing takes the entry away from the other cores.
        if !entry.was_used.load(Ordering::Relaxed) {
            entry.was_used.store(true, Ordering::Relaxed);
        }
        Some(entry.value.clone())
    }

    pub(crate) fn insert(&self, key: K, value: V) {
        self.0.insert(key, Arc::new(Entry { was_used: AtomicBool::new(true), value }));
    }

    pub(crate) fn forget(&self, key: &K) {
        self.0.remove(key);
    }

    /// Forgets what nobody has asked for since the last time that this was done.
    pub(crate) fn forget_unused(&self) {
        self.0.retain(|_, entry| entry.was_used.swap(false, Ordering::Relaxed));
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }
}

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
        let cache = Cache::new(100);
        for key in 0..10_000 {
            cache.insert(key, key);
        }
        assert!((50..=100).contains(&cache.len()), "{}", cache.len());
        let nothing = Cache::new(0);
        nothing.insert(1, 1);
        assert_eq!((nothing.get(&1), nothing.len()), (None, 0));
    }

    #[test]
    fn the_last_value_counts_and_what_is_forgotten_is_gone() {
        let cache = Cache::new(10);
        cache.insert("key", 1);
        cache.insert("key", 2);
        assert_eq!(cache.get(&"key"), Some(2));
        cache.forget(&"key");
        assert_eq!(cache.get(&"key"), None);
    }
}
