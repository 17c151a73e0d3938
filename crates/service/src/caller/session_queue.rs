//! The bounded queue of look-ups of sessions and API tokens.

use std::sync::{Mutex, MutexGuard, PoisonError};

use sealpost_domain::Refusal;
use tokio::sync::oneshot;

use super::bearer::{Bearer, BearerHash};
use crate::{error::Error, settings::Settings};

/// The result of a look-up: `None` if the token has ended or never existed.
pub(super) type FoundBearer = Result<Option<Bearer>, Error>;

/// A waiting look-up, and the sender of its result.
pub(super) struct QueuedLookup {
    pub(super) token: BearerHash,
    pub(super) reply: oneshot::Sender<FoundBearer>,
}

/// The look-ups that wait for the next statement.
pub(crate) struct SessionQueue {
    queue: Mutex<Queue>,
    waiting_max: usize,
    together_max: usize,
}

#[derive(Default)]
struct Queue {
    waiting: Vec<QueuedLookup>,
    /// True if a worker is running, which will take the waiting look-ups next.
    has_worker: bool,
}

impl SessionQueue {
    pub(crate) fn new(settings: &Settings) -> Self {
        Self {
            queue: Mutex::default(),
            waiting_max: settings.session_lookups_waiting_max,
            together_max: settings.session_lookups_together_max,
        }
    }

    /// Queues a look-up. Returns true if the caller must start a worker. Fails at once if the queue is full.
    pub(super) fn submit(&self, lookup: QueuedLookup) -> Result<bool, Refusal> {
        let mut queue = self.lock();
        if queue.waiting.len() >= self.waiting_max {
            return Err(Refusal::Unavailable);
        }
        queue.waiting.push(lookup);
        Ok(!std::mem::replace(&mut queue.has_worker, true))
    }

    /// Takes the look-ups for the next statement. Returns `None` if the queue is empty, after which the worker must
    /// end.
    pub(super) fn take(&self) -> Option<Vec<QueuedLookup>> {
        let mut queue = self.lock();
        queue.has_worker = !queue.waiting.is_empty();
        let count = queue.waiting.len().min(self.together_max);
        queue.has_worker.then(|| queue.waiting.drain(..count).collect())
    }

    /// Drops all queued look-ups, which makes their requests fail. The next look-up starts a new worker.
    pub(super) fn abandon(&self) {
        let abandoned = std::mem::take(&mut *self.lock());
        drop(abandoned.waiting);
    }

    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
