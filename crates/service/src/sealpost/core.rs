//! The parts that several services share.

use std::sync::Arc;

use sealpost_domain::{
    ApiKeyId, Circuits, Clock, LeaseToken, Timestamp,
    ports::{Dispatch, StoreError, TargetGuard},
};
use sealpost_storage::Database;
use sealpost_wallet::Keyring;
use tokio::{sync::Semaphore, task::spawn_blocking};

use crate::{
    cache::{cached_key::CachedKey, key_cache::KeyCache},
    caller::{
        bearer::{Bearer, BearerHash},
        bearer_uses::BearerUses,
        lookup_queue::LookupQueue,
    },
    error::Error,
    issuer::signer::Issuer,
    settings::Settings,
};

/// The parts of a service that the embedding program provides.
pub struct Parts {
    /// The database.
    pub store: Arc<Database>,
    /// Delivers events to webhooks.
    pub dispatch: Arc<dyn Dispatch>,
    /// Decides which URLs a webhook can have.
    pub guard: Arc<dyn TargetGuard>,
    /// The key-encryption keys.
    pub keyring: Arc<Keyring>,
    /// The source of the current time.
    pub clock: Arc<dyn Clock>,
    /// The service's own signing keys.
    pub issuer: Arc<Issuer>,
    /// The public URL of the service, without a trailing slash. Badges link to this URL.
    pub base_url: String,
    /// The initial compliance circuits (the sets of checks that jurisdictions require).
    /// [`Badges::use_circuits`](crate::Badges::use_circuits) replaces them.
    pub circuits: Circuits,
}

/// The parts, settings and caches that all services share.
pub(crate) struct Core {
    pub(crate) store: Arc<Database>,
    pub(crate) dispatch: Arc<dyn Dispatch>,
    pub(crate) keyring: Arc<Keyring>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) issuer: Arc<Issuer>,
    pub(crate) base_url: String,
    pub(crate) settings: Settings,
    /// Identifies this node. Unique, because two nodes with the same token would run the same housekeeping task at the
    /// same time.
    pub(crate) node: LeaseToken,
    pub(crate) cache: KeyCache,
    pub(crate) bearer_uses: BearerUses,
    pub(crate) bearer_lookups: LookupQueue<BearerHash, Bearer>,
    pub(crate) key_lookups: LookupQueue<ApiKeyId, Arc<CachedKey>>,
    /// Limits the number of concurrent blocking tasks of the service. The tasks run on the blocking threads of the
    /// embedding program's tokio runtime.
    blocking_tasks: Arc<Semaphore>,
}

impl Core {
    pub(super) fn new(parts: Parts, settings: Settings, node: LeaseToken) -> Self {
        let Parts { store, dispatch, keyring, clock, issuer, base_url, guard: _, circuits: _ } =
            parts;
        store.authenticate_rows(Arc::<Keyring>::clone(&keyring));
        let tasks_max = settings.blocking_tasks_max.clamp(1, Semaphore::MAX_PERMITS);
        Self {
            store,
            dispatch,
            keyring,
            clock,
            issuer,
            base_url,
            cache: KeyCache::new(&settings),
            bearer_uses: BearerUses::default(),
            bearer_lookups: LookupQueue::new(&settings),
            key_lookups: LookupQueue::new(&settings),
            settings,
            node,
            blocking_tasks: Arc::new(Semaphore::new(tasks_max)),
        }
    }

    /// Runs `work`, which may block its thread, on a blocking thread as soon as the limit of concurrent tasks allows.
    /// `work` gets a clone of `service`, which shares the state of `service`. Started work runs to its end, even if the
    /// future is dropped.
    pub(crate) async fn block<S: Clone + Send + 'static, T: Send + 'static>(
        &self,
        service: &S,
        work: impl FnOnce(&S) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        let service = service.clone();
        let permit = Arc::clone(&self.blocking_tasks).acquire_owned().await;
        let permit = permit.map_err(|_closed| Error::Lost)?;
        let task = move || {
            let _permit = permit;
            work(&service)
        };
        spawn_blocking(task).await.map_err(|_panicked| Error::Lost)?
    }

    /// Returns true if the disk has too little free space for new messages and activations.
    pub(crate) fn is_short_of_space(&self) -> Result<bool, StoreError> {
        self.store.is_short_of_space(self.settings.min_free_bytes)
    }

    /// Returns the time from which envelopes and events are kept. Earlier envelopes and events have expired, even if
    /// housekeeping has not deleted them yet.
    pub(crate) fn kept_since(&self, now: Timestamp) -> Timestamp {
        now.minus(self.settings.retention)
    }
}
