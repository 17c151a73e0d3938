//! The service itself: its parts, its life, and the look-ups that several use cases share.

use std::sync::{Arc, PoisonError, RwLock};

use sealpost_domain::{
    Circuits, Clock, Session, TokenHash,
    ports::{Dispatch, Store, TargetGuard},
};
use sealpost_wallet::Keyring;

use crate::{
    Error, Issuer, Settings,
    badge::{Author, StatusLists},
    channel::Channels,
    committer::Committer,
    credentials::NO_SESSION,
    housekeeping::Housekeeper,
    known::Known,
    lookups::SessionLookups,
};

/// What the service is put together from.
pub struct Parts {
    /// The database.
    pub store: Arc<dyn Store>,
    /// Who carries notices to receivers.
    pub dispatch: Arc<dyn Dispatch>,
    /// Who judges where notices may go.
    pub guard: Arc<dyn TargetGuard>,
    /// The key-encryption keys.
    pub keyring: Arc<Keyring>,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// The service in its own name.
    pub issuer: Arc<Issuer>,
    /// The address that callers know, without a slash at its end: badges lead to it.
    pub base_url: String,
    /// The compliance circuits to begin with.
    pub circuits: Circuits,
}

/// The service. Share it by reference or in an [`Arc`].
pub struct Sealpost {
    pub(crate) core: Arc<Core>,
    pub(crate) committer: RwLock<Option<Committer>>,
    housekeeper: Housekeeper,
}

/// What use cases and committer share.
pub(crate) struct Core {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) dispatch: Arc<dyn Dispatch>,
    pub(crate) guard: Arc<dyn TargetGuard>,
    pub(crate) keyring: Arc<Keyring>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) issuer: Arc<Issuer>,
    pub(crate) base_url: String,
    pub(crate) circuits: RwLock<Arc<Circuits>>,
    pub(crate) settings: Settings,
    pub(crate) known: Known,
    pub(crate) channels: Channels,
    pub(crate) session_lookups: SessionLookups,
    pub(crate) status_lists: StatusLists,
}

impl Core {
    fn new(parts: Parts, settings: Settings) -> Self {
        let Parts { store, dispatch, guard, keyring, clock, issuer, base_url, circuits } = parts;
        Self {
            store,
            dispatch,
            guard,
            keyring,
            clock,
            issuer,
            base_url,
            circuits: RwLock::new(Arc::new(circuits)),
            known: Known::new(&settings),
            channels: Channels::new(&settings),
            session_lookups: SessionLookups::new(&settings),
            settings,
            status_lists: StatusLists::default(),
        }
    }

    /// In whose name credentials are written.
    pub(crate) fn author(&self) -> Author<'_> {
        Author { base_url: &self.base_url, did: self.issuer.did().as_str() }
    }
}

impl Sealpost {
    /// Puts the service together and starts its committer. [`unlock`](crate::unlock) the database first.
    pub fn start(parts: Parts, settings: Settings) -> Result<Self, std::io::Error> {
        let core = Arc::new(Core::new(parts, settings));
        let committer = RwLock::new(Some(Committer::start(Arc::clone(&core))?));
        let housekeeper = Housekeeper::start(&core)?;
        Ok(Self { core, committer, housekeeper })
    }

    /// Whether its threads run, or were told to stop. One that has panicked does not come back by itself.
    pub fn is_alive(&self) -> bool {
        let committer = self.committer.read().unwrap_or_else(PoisonError::into_inner);
        committer.as_ref().is_none_or(Committer::is_alive) && self.housekeeper.is_alive()
    }

    /// Whether the service can take requests: its database answers and its committer runs.
    pub fn check(&self) -> Result<(), Error> {
        let committer = self.committer.read().unwrap_or_else(PoisonError::into_inner);
        if !committer.as_ref().is_some_and(Committer::is_alive) {
            return Err(Error::Lost);
        }
        Ok(self.core.store.check()?)
    }

    /// How many requests wait for a commit.
    pub fn queue_depth(&self) -> usize {
        let committer = self.committer.read().unwrap_or_else(PoisonError::into_inner);
        committer.as_ref().map_or(0, Committer::depth)
    }

    /// How many bytes the sealed messages take that wait for a commit or are in one.
    pub fn queue_bytes(&self) -> usize {
        let committer = self.committer.read().unwrap_or_else(PoisonError::into_inner);
        committer.as_ref().map_or(0, Committer::bytes)
    }

    /// How much is remembered, by what is remembered.
    pub fn cache_entries(&self) -> [(&'static str, usize); 4] {
        self.core.known.entries()
    }

    /// Stores what waits for its commit and ends. Sends that come later are refused as unavailable. Blocks until
    /// the last batch is stored.
    pub fn stop(&self) {
        self.housekeeper.stop();
        let committer = self.committer.write().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(committer) = committer {
            committer.stop();
        }
        self.core.channels.close();
    }

    /// The live session of this token.
    pub(crate) fn require_session(&self, token: &TokenHash) -> Result<Session, Error> {
        let now = self.core.clock.now();
        let session = self.core.store.lookup()?.find_session(token)?;
        let live = session.filter(|session| session.is_live(now));
        // Another node may have ended it.
        Ok(live.ok_or(NO_SESSION).inspect_err(|_| self.core.known.forget_session(token))?)
    }
}
