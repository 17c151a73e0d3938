//! Writes the hours of the last use of API tokens.
//!
//! A request only compares the hour in memory. The first use in an hour queues one write. Queued writes share a relaxed
//! transaction, so a lost write costs only the time of a last use.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use sealpost_domain::{Timestamp, TokenHash, ports::Durability};

use super::bearer::{Bearer, TokenGrant};
use crate::sealpost::{Sealpost, core::Core};

/// Uses that are not written yet.
#[derive(Default)]
pub(crate) struct TokenUses(Mutex<Queue>);

#[derive(Default)]
struct Queue {
    hours: HashMap<TokenHash, Timestamp>,
    has_worker: bool,
}

impl TokenUses {
    /// Queues a use. Returns whether the caller must start a worker. Drops the use if the queue is full.
    fn push(&self, token: TokenHash, hour: Timestamp) -> bool {
        let mut queue = self.lock();
        if queue.hours.len() >= QUEUED_MAX {
            return false;
        }
        queue.hours.insert(token, hour);
        !std::mem::replace(&mut queue.has_worker, true)
    }

    /// Takes all queued uses. Returns `None` if there are none: the worker then ends.
    fn take(&self) -> Option<HashMap<TokenHash, Timestamp>> {
        let mut queue = self.lock();
        queue.has_worker = !queue.hours.is_empty();
        queue.has_worker.then(|| std::mem::take(&mut queue.hours))
    }

    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Sealpost {
    /// Records the use of an API token, to the hour. Does nothing for a session.
    pub(super) fn record_use(&self, bearer: &Bearer) {
        let first = |grant: &TokenGrant| grant.first_use_in_hour(self.core.clock.now());
        let Some(hour) = bearer.grant.as_ref().and_then(first) else { return };
        if self.core.token_uses.push(bearer.hash, hour) {
            let worker = UseWriter(Arc::clone(&self.core));
            // The worker is not joined: no response waits for it.
            drop(tokio::task::spawn_blocking(move || worker.run()));
        }
    }
}

/// A worker that writes queued uses until the queue is empty.
struct UseWriter(Arc<Core>);

impl UseWriter {
    fn run(self) {
        while let Some(hours) = self.0.token_uses.take() {
            let written = self.0.store.write(Durability::Relaxed, |tx| {
                hours.iter().try_for_each(|(token, hour)| tx.set_api_token_use(token, *hour))
            });
            if let Err(error) = written {
                tracing::warn!(%error, "the last use of API tokens was not written");
            }
        }
    }
}

impl Drop for UseWriter {
    /// Lets the next use start a worker, also after a panic.
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.token_uses.lock().has_worker = false;
        }
    }
}

/// Maximum number of queued uses.
const QUEUED_MAX: usize = 10_000;
