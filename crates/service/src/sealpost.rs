//! The service: starts, shares its state with all use cases, and stops.

mod blocking_pool;
pub(crate) mod core;
pub(crate) mod unlock;

use std::sync::{Arc, PoisonError, RwLock};

use self::{
    blocking_pool::BlockingPool,
    core::{Core, Parts},
};
use crate::{
    cache::event::CacheEvent,
    error::Error,
    housekeeping::housekeeper::Housekeeper,
    send::committer::Committer,
    settings::{Activation, Settings},
};

/// The service. Share it by reference or in an [`Arc`].
pub struct Sealpost {
    pub(crate) core: Arc<Core>,
    pub(crate) committer: RwLock<Option<Committer>>,
    blocking: BlockingPool,
    housekeeper: Housekeeper,
}

impl Sealpost {
    /// Starts the service and its threads. Call [`unlock`](crate::unlock) before.
    pub fn start(parts: Parts, settings: Settings) -> Result<Self, std::io::Error> {
        let blocking = BlockingPool::new(settings.blocking_tasks_max);
        let core = Arc::new(Core::new(parts, settings));
        let committer = RwLock::new(Some(Committer::start(Arc::clone(&core))?));
        let housekeeper = Housekeeper::start(&core)?;
        Ok(Self { core, committer, blocking, housekeeper })
    }

    /// Returns whether every thread runs, or has stopped because the service was stopped. A thread that panicked is not
    /// started again.
    pub fn is_alive(&self) -> bool {
        let committer = self.committer.read().unwrap_or_else(PoisonError::into_inner);
        committer.as_ref().is_none_or(Committer::is_alive) && self.housekeeper.is_alive()
    }

    /// Checks that the database responds and the committer runs. Blocks.
    pub fn check(&self) -> Result<(), Error> {
        let committer = self.committer.read().unwrap_or_else(PoisonError::into_inner);
        if !committer.as_ref().is_some_and(Committer::is_alive) {
            return Err(Error::Lost);
        }
        Ok(self.core.store.check()?)
    }

    /// Returns the condition for opening an account.
    pub fn activation(&self) -> Activation {
        self.core.settings.activation
    }

    /// Returns whether sends and activations are refused, because the embedded database has too little space. Blocks.
    pub fn is_short_of_space(&self) -> Result<bool, Error> {
        Ok(self.core.is_short_of_space()?)
    }

    /// Returns the number of requests that wait for a commit.
    pub fn queue_depth(&self) -> usize {
        let committer = self.committer.read().unwrap_or_else(PoisonError::into_inner);
        committer.as_ref().map_or(0, Committer::depth)
    }

    /// Returns the bytes of sealed messages that wait for a commit or are in the current batch.
    pub fn queue_bytes(&self) -> usize {
        let committer = self.committer.read().unwrap_or_else(PoisonError::into_inner);
        committer.as_ref().map_or(0, Committer::bytes)
    }

    /// Returns the number of cached entries by kind.
    pub fn cache_entries(&self) -> [(&'static str, usize); 4] {
        self.core.cache.entries()
    }

    /// Stores the queued requests and stops the service. Refuses later sends as unavailable. Blocks until the last
    /// batch is stored.
    pub fn stop(&self) {
        self.housekeeper.stop();
        let committer = self.committer.write().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(committer) = committer {
            committer.stop();
        }
        self.core.cache.invalidate_on(CacheEvent::Stopped);
    }

    /// Runs blocking work on the blocking pool.
    pub(crate) async fn block<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Core) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        let core = Arc::clone(&self.core);
        self.blocking.run(move || work(&core)).await?
    }
}
