//! Writes the hours of the last use of API tokens.
//!
//! A request compares the current hour with the hour of the last use in memory. Only the first use in an hour queues a
//! write. Queued writes share one transaction, whose commit does not wait for the disk. A crash can lose the time of a
//! last use, but nothing else.

use std::sync::Arc;

use sealpost_domain::ports::Durability;

use super::bearer::{Bearer, TokenGrant};
use crate::sealpost::{Sealpost, core::Core};

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
    /// Lets the next use of an API token start a worker after this worker has panicked.
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.token_uses.abandon();
        }
    }
}
