//! Caches signed status lists for two seconds. Status lists are public, so without a cache any client could make the
//! service sign a list with each request.

use std::{sync::Arc, time::Duration};

use quick_cache::sync::Cache;
use sealpost_domain::Timestamp;

/// Signed status lists by the number of the list.
pub(crate) struct StatusListCache(Cache<u64, CachedList>);

#[derive(Clone)]
struct CachedList {
    since: Timestamp,
    credential: Arc<str>,
}

impl Default for StatusListCache {
    fn default() -> Self {
        Self(Cache::new(LISTS_MAX))
    }
}

impl StatusListCache {
    pub(super) fn get(&self, list: u64, now: Timestamp) -> Option<Arc<str>> {
        let cached = self.0.get(&list).filter(|cached| now.abs_diff(cached.since) < CACHED_FOR);
        cached.map(|cached| cached.credential)
    }

    pub(super) fn insert(&self, list: u64, now: Timestamp, credential: Arc<str>) {
        self.0.insert(list, CachedList { since: now, credential });
    }
}

const CACHED_FOR: Duration = Duration::from_secs(2);
const LISTS_MAX: usize = 1_000;
