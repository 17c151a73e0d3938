//! The bounded queue of uses of API tokens that are not written yet.

use std::collections::HashMap;

use parking_lot::Mutex;
use sealpost_domain::{Timestamp, TokenHash};

/// The uses of API tokens that are not written to the database yet.
#[derive(Default)]
pub(crate) struct TokenUseQueue(Mutex<Queue>);

#[derive(Default)]
struct Queue {
    hours: HashMap<TokenHash, Timestamp>,
    has_worker: bool,
}

impl TokenUseQueue {
    /// Queues a use of an API token. Returns true if the caller must start a worker, which writes the queued uses.
    /// Drops the use if the queue is full.
    pub(super) fn push(&self, token: TokenHash, hour: Timestamp) -> bool {
        let mut queue = self.0.lock();
        if queue.hours.len() >= QUEUED_MAX {
            return false;
        }
        queue.hours.insert(token, hour);
        !std::mem::replace(&mut queue.has_worker, true)
    }

    /// Takes all queued uses: for each token, the start of the hour of its last use. Returns `None` if there are none.
    /// The worker then ends.
    pub(super) fn take(&self) -> Option<HashMap<TokenHash, Timestamp>> {
        let mut queue = self.0.lock();
        queue.has_worker = !queue.hours.is_empty();
        queue.has_worker.then(|| std::mem::take(&mut queue.hours))
    }

    /// Lets the next use of an API token start a worker, after the current worker has ended unexpectedly.
    pub(super) fn abandon(&self) {
        self.0.lock().has_worker = false;
    }
}

/// Maximum number of API tokens with a queued use.
const QUEUED_MAX: usize = 10_000;
