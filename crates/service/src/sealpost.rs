//! The service as a whole: its start, its state, its health and its stop.

pub(crate) mod core;
pub(crate) mod unlock;

use std::sync::{Arc, PoisonError, RwLock};

use sealpost_domain::LeaseToken;
use sealpost_wallet::random;

use self::core::{Core, Parts};
use crate::{
    account::Accounts,
    badges::Badges,
    cache::key_cache::CacheEvent,
    envelopes::Mailbox,
    error::Error,
    housekeeping::housekeeper::Housekeeper,
    send::committer::Committer,
    settings::{Activation, Settings},
    transparency::TransparencyLog,
    webhooks::Webhooks,
};

/// The service. It can be shared by reference or in an [`Arc`].
pub struct Sealpost {
    pub(crate) core: Arc<Core>,
    pub(crate) committer: RwLock<Option<Committer>>,
    housekeeper: Housekeeper,
    /// Accounts with their keys, sessions, tokens and secrets.
    pub accounts: Accounts,
    /// Badges and compliance circuits.
    pub badges: Badges,
    /// Received and sent envelopes.
    pub mailbox: Mailbox,
    /// The transparency log.
    pub transparency_log: TransparencyLog,
    /// Webhooks, their deliveries and relays.
    pub webhooks: Webhooks,
}

impl Sealpost {
    /// Starts the service and its threads. [`unlock`](crate::unlock) must be called before.
    pub fn start(parts: Parts, settings: Settings) -> Result<Self, std::io::Error> {
        let (circuits, guard) = (parts.circuits.clone(), Arc::clone(&parts.guard));
        let node = LeaseToken(i64::from_ne_bytes(random().map_err(std::io::Error::other)?));
        let core = Arc::new(Core::new(parts, settings, node));
        let committer = RwLock::new(Some(Committer::start(Arc::clone(&core))?));
        let log = TransparencyLog::new(Arc::clone(&core));
        let webhooks = Webhooks::new(Arc::clone(&core), guard);
        let housekeeper = Housekeeper::start(&core, &webhooks, &log)?;
        Ok(Self {
            accounts: Accounts::new(Arc::clone(&core), log.clone()),
            badges: Badges::new(Arc::clone(&core), log.clone(), circuits),
            mailbox: Mailbox::new(Arc::clone(&core), log.clone()),
            transparency_log: log,
            webhooks,
            core,
            committer,
            housekeeper,
        })
    }

    /// Returns true if all threads run, or if the service was stopped. A thread that has panicked is not restarted.
    pub fn is_alive(&self) -> bool {
        let committer = self.committer.read().unwrap_or_else(PoisonError::into_inner);
        committer.as_ref().is_none_or(Committer::is_alive) && self.housekeeper.is_alive()
    }

    /// Checks that the database responds and that the committer, the thread that stores sends, runs. Blocks the thread.
    pub fn check(&self) -> Result<(), Error> {
        let committer = self.committer.read().unwrap_or_else(PoisonError::into_inner);
        if !committer.as_ref().is_some_and(Committer::is_alive) {
            return Err(Error::Lost);
        }
        Ok(self.core.store.check()?)
    }

    /// Returns the setting that decides which clients can open an account.
    pub fn activation(&self) -> Activation {
        self.core.settings.activation
    }

    /// Returns the URL of the contact for larger limits. `None` if there is none.
    pub fn sales_contact(&self) -> Option<&str> {
        self.core.settings.sales_contact.as_deref()
    }

    /// Returns true if sends and activations are refused, because the disk of the embedded database has too little
    /// space. Blocks the thread.
    pub fn is_short_of_space(&self) -> Result<bool, Error> {
        Ok(self.core.is_short_of_space()?)
    }

    /// Returns the number of requests that wait for a commit.
    pub fn queue_depth(&self) -> usize {
        let committer = self.committer.read().unwrap_or_else(PoisonError::into_inner);
        committer.as_ref().map_or(0, Committer::depth)
    }

    /// Returns the bytes of sealed messages that wait for a commit or are being committed.
    pub fn queue_bytes(&self) -> usize {
        let committer = self.committer.read().unwrap_or_else(PoisonError::into_inner);
        committer.as_ref().map_or(0, Committer::bytes)
    }

    /// Returns the number of cache entries of each kind.
    pub fn cache_entries(&self) -> [(&'static str, usize); 4] {
        self.core.cache.entries()
    }

    /// Stops the service. Stores the queued requests, and refuses new sends as unavailable. Blocks the thread until the
    /// last batch is stored.
    pub fn stop(&self) {
        self.housekeeper.stop();
        let committer = self.committer.write().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(committer) = committer {
            committer.stop();
        }
        self.core.cache.invalidate_on(CacheEvent::Stopped);
    }

    /// Runs `work`, which may block its thread, on the blocking pool.
    pub(crate) async fn block<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Core) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        self.core.block(&self.core, |core| work(core)).await
    }
}
