//! Delivers events to webhooks: accepts deliveries from the send path, claims due ones from the database, sends them
//! and records their outcomes.

mod delivery_worker;
mod full_targets;
mod outage_log;
mod outcome_writer;
mod relay_claimer;
mod shared_state;
mod shutdown;
mod stats;
mod sweeper;
mod target_refresher;
mod test_sender;
mod threads;
mod worker_inboxes;

use std::{io, sync::Arc};

use parking_lot::Mutex;
use sealpost_domain::{
    Clock, EventId, LeaseToken, LeasedDelivery, Target, TestEvent, Timestamp,
    ports::{Dispatch, EventSigner, FinishTest, Outbox, Relays},
    with_causes,
};
use sealpost_wallet::{Keyring, WalletError};

pub(crate) use self::shared_state::Dependencies;
pub use self::stats::Stats;
use self::{
    shared_state::SharedState,
    test_sender::TestInbox,
    threads::{ThreadStarter, Threads},
    worker_inboxes::WorkerInboxes,
};
use crate::{
    address_guard::resolver, http::tls::tls_config, queue::release_batch::RELEASE_BATCH_MAX,
    settings::Settings, signing::signing_keys::SigningKeys,
};

/// The reason why a dispatcher did not start.
#[derive(Debug, thiserror::Error)]
pub enum DispatchError {
    /// The lease is too short: it could end before an attempt has ended and its outcome is recorded.
    #[error("the lease must be more than five seconds longer than the timeout")]
    LeaseTooShort,
    /// The random source failed.
    #[error("the random source failed")]
    Random(#[source] WalletError),
    /// A thread could not be started.
    #[error("a thread could not be started")]
    Thread(#[source] io::Error),
    /// TLS could not be configured, for example because one of the additional root certificates is invalid.
    #[error("TLS could not be configured")]
    Tls(#[source] rustls::Error),
}

/// Delivers events to webhooks until [`Dispatcher::stop`]. Dropping the dispatcher stops it.
pub struct Dispatcher {
    inboxes: Arc<WorkerInboxes>,
    tests: TestInbox,
    shared: Arc<SharedState>,
    threads: Mutex<Option<Threads>>,
}

impl Dispatcher {
    /// Starts the threads of the dispatcher, which then send all due deliveries. With a `signer`, each request also has
    /// the asymmetric signature of the service.
    pub fn start(
        settings: Settings,
        outbox: Arc<dyn Outbox>,
        keyring: Arc<Keyring>,
        clock: Arc<dyn Clock>,
        signer: Option<Arc<dyn EventSigner>>,
    ) -> Result<Self, DispatchError> {
        let new_resolver = resolver::system;
        let dependencies = Dependencies { outbox, keyring, clock, signer, new_resolver };
        Self::start_with(settings, dependencies)
    }

    pub(crate) fn start_with(
        settings: Settings,
        dependencies: Dependencies,
    ) -> Result<Self, DispatchError> {
        if settings.lease <= settings.lease_min() {
            return Err(DispatchError::LeaseTooShort);
        }
        let tls = tls_config(&settings.extra_roots).map_err(DispatchError::Tls)?;
        let random = sealpost_wallet::random().map_err(DispatchError::Random)?;
        let shared = SharedState::new(settings, dependencies, u64::from_ne_bytes(random));
        let starter = ThreadStarter { shared: Arc::new(shared), tls };
        // If a thread did not start, the shutdown ends the threads that already run.
        let running = starter.start().inspect_err(|_| starter.shared.shutdown.raise());
        let (threads, inboxes, tests) = running.map_err(DispatchError::Thread)?;
        Ok(Self { inboxes, tests, shared: starter.shared, threads: Mutex::new(Some(threads)) })
    }

    /// Stops the dispatcher and blocks until it has stopped. A second call waits for the first.
    ///
    /// Claims no more deliveries and starts no more attempts. Waits up to `Settings::drain` for requests in flight, and
    /// records their outcomes. Then releases the leases of all deliveries without an outcome.
    pub fn stop(&self) {
        let mut guard = self.threads.lock();
        let Some(threads) = guard.take() else { return };
        self.shared.relays.stop();
        self.shared.shutdown.raise();
        self.shared.full_targets.wake();
        self.tests.close();
        let held = threads.join(&self.inboxes);
        for batch in held.chunks(RELEASE_BATCH_MAX) {
            if let Err(error) = self.shared.outbox.release(batch, self.shared.clock.now()) {
                tracing::warn!(
                    error = with_causes(&error),
                    "cannot release the remaining deliveries; they are due when their leases end"
                );
                return;
            }
        }
    }

    /// Returns the statistics of the dispatcher.
    pub fn stats(&self) -> Stats {
        self.shared.counters.read(&self.shared.gauges, self.shared.relays.len())
    }

    /// Returns the number of deliveries in memory: queued, in flight, or waiting for their outcome to be recorded.
    pub fn held(&self) -> usize {
        self.shared.capacity.used()
    }

    /// Returns true while all threads of the dispatcher run. Returns false after [`Dispatcher::stop`], and if a thread
    /// has ended unexpectedly.
    pub fn is_alive(&self) -> bool {
        self.shared.is_complete() && !self.shared.shutdown.is_raised()
    }

    /// Returns true if a thread has ended unexpectedly. The dispatcher cannot recover, and accepts no more deliveries.
    /// After the leases of its deliveries have ended, other nodes send these deliveries.
    pub fn is_broken(&self) -> bool {
        self.shared.is_broken()
    }
}

impl Dispatch for Dispatcher {
    fn capacity(&self) -> usize {
        if self.shared.is_broken() { 0 } else { self.shared.capacity.free() }
    }

    fn lease(&self) -> (LeaseToken, Timestamp) {
        self.shared.new_lease(self.shared.clock.now())
    }

    fn relays(&self) -> &dyn Relays {
        &*self.shared.relays
    }

    fn submit(&self, deliveries: Vec<LeasedDelivery>) {
        self.inboxes.submit(deliveries);
    }

    fn test(&self, event: TestEvent, finish: FinishTest) -> bool {
        self.tests.accept((event, finish))
    }

    fn signature(
        &self,
        target: &Target,
        event_id: &EventId,
        body: &[u8],
        at: Timestamp,
    ) -> Option<String> {
        let keys = SigningKeys::unwrap(target, &self.shared.keyring, self.shared.signer.as_ref());
        let keys = keys.inspect_err(|error| {
            tracing::error!(
                error = with_causes(error),
                webhook.id = %target.webhook_id,
                "cannot decrypt a signing secret"
            );
        });
        let timestamp = at.as_seconds().to_string();
        Some(keys.ok()?.sign(&event_id.to_string(), &timestamp, body, at))
    }
}

impl Drop for Dispatcher {
    fn drop(&mut self) {
        self.stop();
    }
}
