//! State that all threads of a dispatcher share: capacity, host limits, counters, and the signal to shut down.

use std::{
    collections::HashSet,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

use parking_lot::Mutex;
use sealpost_domain::WebhookId;

use super::{
    full_targets::FullTargets,
    lease_tokens::LeaseTokens,
    shutdown::ShutdownSignal,
    stats::{Counters, Gauges},
};
use crate::{
    queue::{capacity::Capacity, host_rates::HostRates},
    relay::RelayHub,
    settings::Settings,
};

#[derive(Debug)]
pub(super) struct SharedState {
    pub(super) capacity: Capacity,
    pub(super) host_rates: Arc<HostRates>,
    pub(super) shutdown: ShutdownSignal,
    /// Webhooks with queued deliveries whose targets were read some time ago. Delivery workers add these webhooks. The
    /// target refresher removes the webhooks, and reads their targets again.
    pub(super) aging_targets: Mutex<HashSet<WebhookId>>,
    pub(super) full_targets: FullTargets,
    pub(super) tokens: LeaseTokens,
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
    pub(super) fn new(settings: &Settings, random: u64) -> Self {
        Self {
            capacity: Capacity::new(settings),
            host_rates: Arc::new(HostRates::new(settings.per_minute_per_host)),
            shutdown: ShutdownSignal::default(),
            aging_targets: Mutex::default(),
            full_targets: FullTargets::new(settings.workers()),
            tokens: LeaseTokens::starting_at(random),
            relays: Arc::default(),
            counters: Counters::default(),
            gauges: (0..settings.workers()).map(|_| Gauges::default()).collect(),
            running: AtomicUsize::new(0),
            threads: settings.workers() + 5,
        }
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
