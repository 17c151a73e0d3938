//! Batches look-ups of bearer tokens and API keys: concurrent look-ups of one kind share one database statement.
//!
//! Requests with an unknown token or key are refused before a rate limit counts them. If each look-up ran its own
//! statement, a flood of these requests would occupy all database connections, and sends would wait. Shared statements
//! also help after a start with an empty cache: on PostgreSQL, they raised the throughput in the first 20 seconds from
//! 2,290 messages a second to at least 3,020.
//!
//! A look-up never waits for a batch to fill, only for the running statement to end. If too many look-ups wait, further
//! look-ups fail with [`Refusal::Unavailable`].

use std::{
    collections::{HashMap, HashSet},
    hash::Hash,
    marker::PhantomData,
    sync::Arc,
};

use sealpost_domain::{ApiKeyId, Refusal, ports::StoreError};
use tokio::sync::oneshot;

use super::{
    bearer::{Bearer, BearerHash},
    lookup_queue::{Found, LookupQueue, QueuedLookup},
};
use crate::{cache::cached_key::CachedKey, error::Error, sealpost::core::Core};

/// The key of a look-up: the id of an API key, or the hash of a bearer token.
pub(crate) trait Lookup: Copy + Eq + Hash + Send + 'static {
    /// The value that is stored for the key.
    type Value: Clone + Send;

    /// The name of this kind of look-up in log messages.
    const KIND: &'static str;

    /// Returns the queue for look-ups of this kind.
    fn queue(core: &Core) -> &LookupQueue<Self, Self::Value>;

    /// Reads the values of these keys from the database, and caches them. Omits keys without a value.
    fn load(core: &Core, keys: &[Self]) -> Result<HashMap<Self, Self::Value>, StoreError>;
}

impl Lookup for BearerHash {
    type Value = Bearer;
    const KIND: &'static str = "bearer tokens";

    fn queue(core: &Core) -> &LookupQueue<Self, Bearer> {
        &core.bearer_lookups
    }

    fn load(core: &Core, keys: &[Self]) -> Result<HashMap<Self, Bearer>, StoreError> {
        core.load_bearers(keys)
    }
}

impl Lookup for ApiKeyId {
    type Value = Arc<CachedKey>;
    const KIND: &'static str = "API keys";

    fn queue(core: &Core) -> &LookupQueue<Self, Arc<CachedKey>> {
        &core.key_lookups
    }

    fn load(core: &Core, keys: &[Self]) -> Result<HashMap<Self, Arc<CachedKey>>, StoreError> {
        core.load_keys(keys)
    }
}

impl Core {
    /// Reads a value from the database, never from the cache. The statement starts after this call, so the result is
    /// current.
    pub(crate) async fn look_up<K: Lookup>(self: &Arc<Self>, key: K) -> Found<K::Value> {
        let (reply, found) = oneshot::channel();
        if K::queue(self).submit(QueuedLookup { key, reply })? {
            let worker =
                LookupWorker::<K> { core: Arc::clone(self), is_done: false, kind: PhantomData };
            // The worker is not awaited, because each look-up gets its result from its own reply channel.
            drop(tokio::task::spawn_blocking(move || worker.run()));
        }
        // The worker may drop a look-up, for example at shutdown. Nothing has changed then, so the caller can retry.
        found.await.map_err(|_dropped| Refusal::Unavailable)?
    }
}

/// Runs queued look-ups on a thread of the blocking pool until the queue is empty.
struct LookupWorker<K: Lookup> {
    core: Arc<Core>,
    is_done: bool,
    kind: PhantomData<K>,
}

impl<K: Lookup> LookupWorker<K> {
    fn run(mut self) {
        while let Some(batch) = K::queue(&self.core).take() {
            respond(&self.core, batch);
        }
        self.is_done = true;
    }
}

impl<K: Lookup> Drop for LookupWorker<K> {
    /// Fails all queued look-ups if the worker panicked, or if the runtime ended before the worker started.
    fn drop(&mut self) {
        if !self.is_done {
            K::queue(&self.core).abandon();
        }
    }
}

fn respond<K: Lookup>(core: &Core, batch: Vec<QueuedLookup<K, K::Value>>) {
    let keys: HashSet<_> = batch.iter().map(|lookup| lookup.key).collect();
    let keys: Vec<_> = keys.into_iter().collect();
    match K::load(core, &keys) {
        Ok(values) => {
            for QueuedLookup { key, reply } in batch {
                reply_with(reply, Ok(values.get(&key).cloned()));
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

fn fail<K: Lookup>(batch: Vec<QueuedLookup<K, K::Value>>, error: &StoreError) {
    let is_temporary = matches!(error, StoreError::Contended(_) | StoreError::Unavailable(_));
    tracing::error!(
        kind = K::KIND,
        batch.len = batch.len(),
        error = %error,
        source = ?std::error::Error::source(error).map(ToString::to_string),
        "look-ups failed"
    );
    for QueuedLookup { reply, .. } in batch {
        reply_with(
            reply,
            Err(if is_temporary { Refusal::Unavailable.into() } else { Error::NotRead }),
        );
    }
}

fn reply_with<V>(reply: oneshot::Sender<Found<V>>, found: Found<V>) {
    // An error is ignored, because the request may have been cancelled.
    drop(reply.send(found));
}
