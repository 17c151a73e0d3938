//! Stores the ids of processed events.

use std::{
    collections::{HashSet, VecDeque},
    sync::{Mutex, PoisonError},
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
}
