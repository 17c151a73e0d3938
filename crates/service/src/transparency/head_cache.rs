//! Caches the head of the log for one second, because any client may read it.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use sealpost_domain::{Timestamp, ports::LogHead};

/// The cached head, and the time at which it was read.
#[derive(Default)]
pub(crate) struct HeadCache(Mutex<Option<(Timestamp, Arc<LogHead>)>>);

impl HeadCache {
    pub(super) fn get(&self, now: Timestamp) -> Option<Arc<LogHead>> {
        let cached = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (since, head) = cached.as_ref()?;
        (now.abs_diff(*since) < CACHED_FOR).then(|| Arc::clone(head))
    }

    pub(super) fn insert(&self, now: Timestamp, head: Arc<LogHead>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some((now, head));
    }
}

const CACHED_FOR: Duration = Duration::from_secs(1);
