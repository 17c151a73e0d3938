//! The bounded queue of look-ups of one kind: bearer tokens or API keys.

use parking_lot::Mutex;
use sealpost_domain::Refusal;
use tokio::sync::oneshot;

use crate::{error::Error, settings::Settings};

/// The result of a look-up: the stored value of a bearer token or an API key. `None` if the database has no such value.
pub(crate) type Found<V> = Result<Option<V>, Error>;

/// A waiting look-up, and the oneshot sender for its result.
pub(super) struct QueuedLookup<K, V> {
    pub(super) key: K,
    pub(super) reply: oneshot::Sender<Found<V>>,
}

/// The look-ups that wait for the next database statement. One statement answers several look-ups.
pub(crate) struct LookupQueue<K, V> {
    queue: Mutex<Queue<K, V>>,
    waiting_max: usize,
    together_max: usize,
}

struct Queue<K, V> {
    waiting: Vec<QueuedLookup<K, V>>,
    /// True if a worker is running. The worker takes the waiting look-ups when its current database statement has
    /// ended.
    has_worker: bool,
}

impl<K, V> LookupQueue<K, V> {
    pub(crate) fn new(settings: &Settings) -> Self {
        Self {
            queue: Mutex::new(Queue { waiting: Vec::new(), has_worker: false }),
            waiting_max: settings.lookups_waiting_max,
            together_max: settings.lookups_together_max,
        }
    }

    /// Queues a look-up. Returns true if no worker takes look-ups from the queue, so that the caller must start one.
    /// Fails at once if the queue is full.
    pub(super) fn submit(&self, lookup: QueuedLookup<K, V>) -> Result<bool, Refusal> {
        let mut queue = self.queue.lock();
        if queue.waiting.len() >= self.waiting_max {
            return Err(Refusal::Unavailable);
        }
        queue.waiting.push(lookup);
        Ok(!std::mem::replace(&mut queue.has_worker, true))
    }

    /// Takes the look-ups that one database statement can answer together. Returns `None` if the queue is empty: the
    /// worker that called this must then end.
    pub(super) fn take(&self) -> Option<Vec<QueuedLookup<K, V>>> {
        let mut queue = self.queue.lock();
        queue.has_worker = !queue.waiting.is_empty();
        let count = queue.waiting.len().min(self.together_max);
        queue.has_worker.then(|| queue.waiting.drain(..count).collect())
    }

    /// Drops all queued look-ups, which makes their requests fail. The next look-up starts a new worker.
    pub(super) fn abandon(&self) {
        let mut queue = self.queue.lock();
        queue.has_worker = false;
        let abandoned = std::mem::take(&mut queue.waiting);
        drop(queue);
        drop(abandoned);
    }
}
