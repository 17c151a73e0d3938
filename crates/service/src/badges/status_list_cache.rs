//! Caches signed status lists for two seconds. Status lists are public, so without a cache any client could make the
//! service sign a list with each request. The verification of all badges of a list takes longer, and is cached longer.

use std::{sync::Arc, time::Duration};

use quick_cache::sync::Cache;
use sealpost_domain::Timestamp;

/// Signed status lists by the number of the list.
pub(crate) struct StatusListCache {
    lists: Cache<u64, Cached<str>>,
    /// The indices of the badges whose rows another program has changed.
    forged: Cache<u64, Cached<[u64]>>,
}

struct Cached<T: ?Sized> {
    since: Timestamp,
    value: Arc<T>,
}

impl Default for StatusListCache {
    fn default() -> Self {
        Self { lists: Cache::new(LISTS_MAX), forged: Cache::new(LISTS_MAX) }
    }
}

impl StatusListCache {
    pub(super) fn get(&self, list: u64, now: Timestamp) -> Option<Arc<str>> {
        fresh(self.lists.get(&list), now, CACHED_FOR)
    }

    pub(super) fn insert(&self, list: u64, now: Timestamp, credential: Arc<str>) {
        self.lists.insert(list, Cached { since: now, value: credential });
    }

    pub(super) fn forged(&self, list: u64, now: Timestamp) -> Option<Arc<[u64]>> {
        fresh(self.forged.get(&list), now, VERIFIED_FOR)
    }

    pub(super) fn insert_forged(&self, list: u64, now: Timestamp, forged: Arc<[u64]>) {
        self.forged.insert(list, Cached { since: now, value: forged });
    }
}

fn fresh<T: ?Sized>(cached: Option<Cached<T>>, now: Timestamp, life: Duration) -> Option<Arc<T>> {
    cached.filter(|cached| now.abs_diff(cached.since) < life).map(|cached| cached.value)
}

impl<T: ?Sized> Clone for Cached<T> {
    fn clone(&self) -> Self {
        Self { since: self.since, value: Arc::clone(&self.value) }
    }
}

const CACHED_FOR: Duration = Duration::from_secs(2);
const VERIFIED_FOR: Duration = Duration::from_mins(1);
const LISTS_MAX: usize = 1_000;
