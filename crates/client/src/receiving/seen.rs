//! Stores the ids of processed events.

use std::{
    collections::{HashSet, VecDeque},
    sync::{Arc, Mutex, PoisonError},
};

use futures_util::future::{BoxFuture, FutureExt as _, ready};

use crate::error::HandlerError;

/// A store of the ids of processed events. The default store is in memory. Implement this trait with a database table
/// if the program has several processes, or if it must not process an envelope again after a restart.
pub trait SeenEvents: Send + Sync {
    /// Returns true if the event with this id was processed.
    fn contains<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<bool, HandlerError>>;

    /// Stores the id of a processed event.
    fn add<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<(), HandlerError>>;
}

/// The ids of the newest processed events, in memory.
#[derive(Default)]
pub(super) struct SeenInMemory(Mutex<NewestIds>);

#[derive(Default)]
struct NewestIds {
    ids: HashSet<String>,
    oldest_first: VecDeque<String>,
}

impl SeenEvents for SeenInMemory {
    fn contains<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<bool, HandlerError>> {
        let newest = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        ready(Ok(newest.ids.contains(id))).boxed()
    }

    fn add<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<(), HandlerError>> {
        let mut newest = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        newest.add(id.to_owned());
        ready(Ok(())).boxed()
    }
}

impl NewestIds {
    fn add(&mut self, id: String) {
        if self.ids.insert(id.clone()) {
            self.oldest_first.push_back(id);
        }
        if self.oldest_first.len() > CAPACITY
            && let Some(oldest) = self.oldest_first.pop_front()
        {
            self.ids.remove(&oldest);
        }
    }
}

/// The ids of the events that are being processed.
#[derive(Default)]
pub(super) struct EventsInProcess(Mutex<HashSet<String>>);

/// Marks an event as being processed until the guard is dropped, even if the request is canceled.
pub(super) struct ProcessingGuard {
    events: Arc<EventsInProcess>,
    id: String,
}

impl EventsInProcess {
    /// Adds an event. Returns `None` if another request is already processing the event.
    pub(super) fn begin(events: &Arc<Self>, id: &str) -> Option<ProcessingGuard> {
        let is_new = events.0.lock().unwrap_or_else(PoisonError::into_inner).insert(id.to_owned());
        is_new.then(|| ProcessingGuard { events: Arc::clone(events), id: id.to_owned() })
    }
}

impl Drop for ProcessingGuard {
    fn drop(&mut self) {
        let mut ids = self.events.0.lock().unwrap_or_else(PoisonError::into_inner);
        ids.remove(&self.id);
    }
}

const CAPACITY: usize = 100_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_ids_stay() {
        let mut newest = NewestIds::default();
        for id in 0..=CAPACITY {
            newest.add(id.to_string());
        }
        newest.add(CAPACITY.to_string());
        assert_eq!(newest.ids.len(), CAPACITY);
        assert!(!newest.ids.contains("0"));
        assert!(newest.ids.contains("1"));
    }

    #[test]
    fn an_event_is_processed_by_one_request_at_a_time() {
        let events = Arc::default();
        let first = EventsInProcess::begin(&events, "env_1");
        assert!(first.is_some());
        assert!(EventsInProcess::begin(&events, "env_1").is_none());
        assert!(EventsInProcess::begin(&events, "env_2").is_some());
        drop(first);
        assert!(EventsInProcess::begin(&events, "env_1").is_some());
    }
}
