//! The service as a whole: its start, its state, its health and its stop.

pub(crate) mod core;
pub(crate) mod unlock;

use std::sync::Arc;

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
    send::Sending,
    settings::{Activation, Settings},
    transparency::TransparencyLog,
    webhooks::Webhooks,
};

/// The service. Its own functions start, check and stop the service, authenticate callers, and perform acts of
/// operators. Each field has the use cases of one topic.
///
/// Share the service by reference or in an [`Arc`]. Clones of its fields must not outlive it, because only its threads
/// wipe secrets from memory.
pub struct Sealpost {
    /// Accounts with their keys, sessions, tokens and secrets.
    pub accounts: Accounts,
    /// Badges, and compliance circuits (the checks that jurisdictions require).
    pub badges: Badges,
    /// Received and sent envelopes.
    pub mailbox: Mailbox,
    /// Sends, and the queue of sends that wait for their commit.
    pub sending: Sending,
    /// The transparency log.
    pub transparency_log: TransparencyLog,
    /// Webhooks, their deliveries, and the connections of relays (webhooks whose receivers connect to the service).
    pub webhooks: Webhooks,
    pub(crate) core: Arc<Core>,
    housekeeper: Housekeeper,
}

impl Sealpost {
    /// Starts the service and its threads. [`unlock`](crate::unlock) must be called before.
    pub fn start(parts: Parts, settings: Settings) -> Result<Self, std::io::Error> {
        let (circuits, guard) = (parts.circuits.clone(), Arc::clone(&parts.guard));
        let node = LeaseToken(i64::from_ne_bytes(random().map_err(std::io::Error::other)?));
        let core = Arc::new(Core::new(parts, settings, node));
        let sending = Sending::start(Arc::clone(&core))?;
        let log = TransparencyLog::new(Arc::clone(&core));
        let webhooks = Webhooks::new(Arc::clone(&core), guard);
        let housekeeper = Housekeeper::start(&core, &webhooks, &log)?;
        Ok(Self {
            accounts: Accounts::new(Arc::clone(&core), log.clone()),
            badges: Badges::new(Arc::clone(&core), log.clone(), circuits),
            mailbox: Mailbox::new(Arc::clone(&core), log.clone()),
            sending,
            transparency_log: log,
            webhooks,
            core,
            housekeeper,
        })
    }

    /// Returns true if all threads run, or if the service was stopped. A thread that has panicked is not restarted.
    pub fn is_alive(&self) -> bool {
        self.sending.is_alive() && self.housekeeper.is_alive()
    }

    /// Checks that the database responds, and that the committer runs. The committer is the thread that stores sent
    /// messages. Blocks the thread.
    pub fn check(&self) -> Result<(), Error> {
        if !self.sending.is_running() {
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

    /// Returns true if new messages and activations are refused, because the disk of the embedded database has too
    /// little space. Blocks the thread.
    pub fn is_short_of_space(&self) -> Result<bool, Error> {
        Ok(self.core.is_short_of_space()?)
    }

    /// Returns the number of cache entries of each kind.
    pub fn cache_entries(&self) -> [(&'static str, usize); 4] {
        self.core.cache.entries()
    }

    /// Stops the service. Stores the queued messages, and refuses new messages as unavailable. Blocks the thread until
    /// the last batch is stored.
    pub fn stop(&self) {
        self.housekeeper.stop();
        self.sending.stop();
        while self.core.bearer_uses.store(&self.core.store) {}
        self.core.cache.invalidate_on(CacheEvent::Stopped);
    }
}
