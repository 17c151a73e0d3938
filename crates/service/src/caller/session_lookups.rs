//! Batches look-ups of sessions and API tokens: concurrent look-ups share one database statement of each kind.
//!
//! Requests with an unknown token are refused without a transaction, so no rate limit counts them. If each look-up ran
//! its own statement, a flood of such requests would take all connections from the sends. A look-up never waits for a
//! batch to fill.

use std::{collections::HashMap, sync::Arc};

use sealpost_domain::{Refusal, ports::StoreError};
use tokio::sync::oneshot;

use super::{
    bearer::BearerHash,
    session_queue::{FoundBearer, QueuedLookup},
};
use crate::{
    error::Error,
    sealpost::{Sealpost, core::Core},
};

impl Sealpost {
    /// Reads a session or an API token from the database, never from the cache. The statement starts after this call,
    /// so the result is current.
    pub(super) async fn find_bearer(&self, token: BearerHash) -> FoundBearer {
        let (reply, found) = oneshot::channel();
        if self.core.session_queue.submit(QueuedLookup { token, reply })? {
            let worker = LookupWorker { core: Arc::clone(&self.core), is_done: false };
            // The worker is not awaited, because each look-up gets its result from its own reply channel.
            drop(tokio::task::spawn_blocking(move || worker.run()));
        }
        // The worker may drop a look-up, for example at shutdown. Nothing has changed then, so the caller can retry.
        found.await.map_err(|_dropped| Refusal::Unavailable)?
    }
}

/// Runs queued look-ups on a thread of the blocking pool until the queue is empty.
struct LookupWorker {
    core: Arc<Core>,
    is_done: bool,
}

impl LookupWorker {
    fn run(mut self) {
        while let Some(batch) = self.core.session_queue.take() {
            respond(&self.core, batch);
        }
        self.is_done = true;
    }
}

impl Drop for LookupWorker {
    /// Fails all queued look-ups if the worker panicked, or if the runtime ended before the worker started.
    fn drop(&mut self) {
        if !self.is_done {
            self.core.session_queue.abandon();
        }
    }
}

fn respond(core: &Core, batch: Vec<QueuedLookup>) {
    match core.load_bearers(batch.iter().map(|lookup| lookup.token)) {
        Ok(bearers) => {
            let bearers: HashMap<_, _> =
                bearers.into_iter().map(|bearer| (bearer.hash, bearer)).collect();
            for QueuedLookup { token, reply } in batch {
                reply_with(reply, Ok(bearers.get(&token.hash()).cloned()));
            }
        }
        // Repeats each look-up alone, because one corrupt row must not fail the other look-ups.
        Err(StoreError::Corrupt(_)) if batch.len() > 1 => {
            for lookup in batch {
                respond(core, vec![lookup]);
            }
        }
        Err(error) => fail(batch, &error),
    }
}

fn fail(batch: Vec<QueuedLookup>, error: &StoreError) {
    let is_temporary = matches!(error, StoreError::Contended(_) | StoreError::Unavailable(_));
    tracing::error!(
        batch.len = batch.len(),
        error = %error,
        source = ?std::error::Error::source(error).map(ToString::to_string),
        "the look-up of sessions failed"
    );
    for QueuedLookup { reply, .. } in batch {
        reply_with(
            reply,
            Err(if is_temporary { Refusal::Unavailable.into() } else { Error::NotRead }),
        );
    }
}

fn reply_with(reply: oneshot::Sender<FoundBearer>, found: FoundBearer) {
    // An error is ignored, because the request may have been cancelled.
    drop(reply.send(found));
}
