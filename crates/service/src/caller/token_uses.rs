//! Writes the hours of the last use of API tokens.
//!
//! A request compares the current hour with the hour of the last use in memory. Only the first use in an hour queues a
//! write. Queued writes share one transaction, whose commit does not wait for the disk. A crash can lose the time of a
//! last use, but nothing else.

use std::sync::Arc;

use sealpost_domain::ports::Durability;
use sealpost_storage::Database;

use super::{
    bearer::{Bearer, TokenGrant},
    token_use_queue::TokenUseQueue,
};
use crate::sealpost::Sealpost;

impl Sealpost {
    /// Records the use of an API token, to the hour. Does nothing for a session.
    pub(super) fn record_use(&self, bearer: &Bearer) {
        let first = |grant: &TokenGrant| grant.first_use_in_hour(self.core.clock.now());
        let Some(hour) = bearer.grant.as_ref().and_then(first) else { return };
        if self.token_uses.push(bearer.hash, hour) {
            let (store, queue) = (Arc::clone(&self.core.store), Arc::clone(&self.token_uses));
            let worker = UseWriter { store, queue };
            // The worker is not joined: no response waits for it.
            drop(tokio::task::spawn_blocking(move || worker.run()));
        }
    }
}

/// A worker that writes queued uses until the queue is empty.
struct UseWriter {
    store: Arc<Database>,
    queue: Arc<TokenUseQueue>,
}

impl UseWriter {
    fn run(self) {
        while let Some(hours) = self.queue.take() {
            let written = self.store.write(Durability::Relaxed, |tx| {
                hours.iter().try_for_each(|(token, hour)| tx.set_api_token_use(token, *hour))
            });
            if let Err(error) = written {
                tracing::warn!(%error, "the last use of API tokens was not written");
            }
        }
    }
}

impl Drop for UseWriter {
    /// Lets the next use of an API token start a worker after this worker has panicked.
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.queue.abandon();
        }
    }
}
