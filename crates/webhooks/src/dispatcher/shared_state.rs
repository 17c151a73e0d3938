//! State that all threads of a dispatcher share: settings, database, keys, capacity, host limits, counters, and the
//! signal to shut down.

use std::{
    collections::HashSet,
    rc::Rc,
    sync::{
        Arc,
        atomic::{AtomicU64, AtomicUsize, Ordering},
    },
    thread,
};

use parking_lot::Mutex;
use sealpost_domain::{
    Clock, LeaseToken, Timestamp, WebhookId,
    ports::{EventSigner, Outbox},
};
use sealpost_wallet::Keyring;

use super::{
    full_targets::FullTargets,
    shutdown::ShutdownSignal,
    stats::{Counters, Gauges},
};
use crate::{
    address_guard::resolver::NameResolver,
    queue::{capacity::Capacity, host_rates::HostRates},
    relay::RelayHub,
    settings::Settings,
};

/// The database, keys, clock, signer and name resolver that a dispatcher uses. Tests replace them.
pub(crate) struct Dependencies {
    pub(crate) outbox: Arc<dyn Outbox>,
    pub(crate) keyring: Arc<Keyring>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) signer: Option<Arc<dyn EventSigner>>,
    pub(crate) new_resolver: fn() -> Rc<dyn NameResolver>,
}

pub(super) struct SharedState {
    pub(super) settings: Settings,
    pub(super) outbox: Arc<dyn Outbox>,
    pub(super) keyring: Arc<Keyring>,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) signer: Option<Arc<dyn EventSigner>>,
    pub(super) new_resolver: fn() -> Rc<dyn NameResolver>,
    pub(super) capacity: Capacity,
    pub(super) host_rates: Arc<HostRates>,
    pub(super) shutdown: ShutdownSignal,
    /// Webhooks with queued deliveries whose targets must be read again soon. Delivery workers add these webhooks. The
    /// target refresher removes the webhooks, and reads their targets.
    pub(super) aging_targets: Mutex<HashSet<WebhookId>>,
    pub(super) full_targets: FullTargets,
    /// The next lease token: a counter that starts at a random number. Tokens are unique within a node. Two nodes issue
    /// equal tokens only if their random starts differ by less than the number of issued tokens.
    next_token: AtomicU64,
    pub(super) relays: Arc<RelayHub>,
    pub(super) counters: Counters,
    /// The gauges of each delivery worker, by its index.
    pub(super) gauges: Vec<Gauges>,
    running: AtomicUsize,
    /// Number of threads while all of them run: the delivery workers, the outcome writer, the sweeper, the target
    /// refresher, the claimer for relays and the test sender.
    threads: usize,
}

impl SharedState {
    pub(super) fn new(settings: Settings, dependencies: Dependencies, random: u64) -> Self {
        let Dependencies { outbox, keyring, clock, signer, new_resolver } = dependencies;
        Self {
            capacity: Capacity::new(&settings),
            host_rates: Arc::new(HostRates::new(settings.per_minute_per_host)),
            shutdown: ShutdownSignal::default(),
            aging_targets: Mutex::default(),
            full_targets: FullTargets::new(settings.workers()),
            next_token: AtomicU64::new(random),
            relays: Arc::default(),
            counters: Counters::default(),
            gauges: (0..settings.workers()).map(|_| Gauges::default()).collect(),
            running: AtomicUsize::new(0),
            threads: settings.workers() + 5,
            settings,
            outbox,
            keyring,
            clock,
            signer,
            new_resolver,
        }
    }

    /// Issues a lease token, and returns it with the end of a lease that begins `now`. An outcome is recorded only with
    /// the token of the current lease, so the holder of an expired lease cannot overwrite a newer outcome.
    pub(super) fn new_lease(&self, now: Timestamp) -> (LeaseToken, Timestamp) {
        let token = self.next_token.fetch_add(1, Ordering::Relaxed).cast_signed();
        (LeaseToken(token), now.plus(self.settings.lease))
    }

    /// Returns true if all threads of the dispatcher run.
    pub(super) fn is_complete(&self) -> bool {
        self.running.load(Ordering::Relaxed) == self.threads
    }

    /// Returns true if a thread of the dispatcher has ended although the dispatcher is not shutting down.
    pub(super) fn is_broken(&self) -> bool {
        !self.is_complete() && !self.shutdown.is_raised()
    }
}

/// Counts a thread as running until the thread ends, normally or by a panic.
pub(super) struct RunningThread(Arc<SharedState>);

impl RunningThread {
    pub(super) fn start(shared: &Arc<SharedState>) -> Self {
        shared.running.fetch_add(1, Ordering::Relaxed);
        Self(Arc::clone(shared))
    }
}

impl Drop for RunningThread {
    fn drop(&mut self) {
        if !self.0.shutdown.is_raised() {
            let name = thread::current().name().unwrap_or_default().to_owned();
            tracing::error!(
                thread = name,
                "a dispatcher thread ended unexpectedly; no more deliveries are accepted until a restart"
            );
        }
        self.0.running.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::{
        fixture::{dependencies, settings},
        memory_outbox::NOW,
    };

    #[test]
    fn lease_tokens_do_not_repeat_and_have_the_set_lease() {
        let shared = SharedState::new(settings(), dependencies(), u64::MAX - 7);
        let issued: HashSet<_> = (0..10_000).map(|_| shared.new_lease(NOW).0).collect();
        assert_eq!(issued.len(), 10_000);
        assert_eq!(shared.new_lease(NOW).1, NOW.plus(shared.settings.lease));
    }
}
