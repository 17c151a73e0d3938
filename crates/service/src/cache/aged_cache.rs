//! Caches public values, each for a fixed time, so that not every request reads or signs its value again.

use std::{hash::Hash, sync::Arc, time::Duration};

use quick_cache::sync::Cache;
use sealpost_domain::Timestamp;

/// Values with the times at which they were read.
pub(crate) struct AgedCache<K, T: ?Sized> {
    entries: Cache<K, (Timestamp, Arc<T>)>,
    life: Duration,
}

impl<K: Eq + Hash, T: ?Sized> AgedCache<K, T> {
    /// Creates a cache that keeps each value for `life`.
    pub(crate) fn new(life: Duration) -> Self {
        Self { entries: Cache::new(ENTRIES_MAX), life }
    }

    pub(crate) fn get(&self, key: &K, now: Timestamp) -> Option<Arc<T>> {
        let (since, value) = self.entries.get(key)?;
        (now.abs_diff(since) < self.life).then_some(value)
    }

    pub(crate) fn insert(&self, key: K, now: Timestamp, value: Arc<T>) {
        self.entries.insert(key, (now, value));
    }
}

const ENTRIES_MAX: usize = 1_000;
