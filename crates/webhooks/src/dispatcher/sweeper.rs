//! Claims (leases) due deliveries from the database: retries, deferred deliveries (returned without an attempt), and
//! deliveries whose node has crashed. Runs on one thread.

use std::{collections::HashMap, sync::Arc};

use sealpost_domain::{
    LeasedDelivery, WebhookId,
    ports::{Claim, Relays as _},
};

use super::{outage_log::OutageLog, shared_state::SharedState, worker_inboxes::WorkerInboxes};

pub(super) struct Sweeper {
    workers: Arc<WorkerInboxes>,
    shared: Arc<SharedState>,
    claim_outage: OutageLog,
    release_outage: OutageLog,
}

impl Sweeper {
    pub(super) fn new(workers: Arc<WorkerInboxes>, shared: Arc<SharedState>) -> Self {
        let [claim_outage, release_outage] = ["claim", "release to relays"].map(OutageLog::new);
        Self { workers, shared, claim_outage, release_outage }
    }

    /// Claims due deliveries until the shutdown.
    pub(super) fn run(mut self) {
        while !self.shared.shutdown.is_raised() {
            match self.claim() {
                Claimed::All => {
                    let is_over = || self.shared.shutdown.is_raised();
                    self.shared.full_targets.sleep(self.shared.settings.sweep_every, is_over);
                }
                Claimed::TargetCapped | Claimed::NoCapacity => {
                    let pause = self.shared.settings.sweep_every / CAPPED_SWEEP_DIVISOR;
                    self.shared.shutdown.sleep(pause);
                }
                Claimed::LimitReached => {}
            }
        }
    }

    fn claim(&mut self) -> Claimed {
        // Claims nothing after a thread has ended unexpectedly, because the claimed deliveries would not be sent, or
        // their outcomes would not be recorded.
        if self.shared.is_broken() {
            return Claimed::All;
        }
        let SharedState { capacity, settings, clock, outbox, .. } = &*self.shared;
        let limit = settings.claim_max.min(capacity.free_for_claims());
        // Claims only if at least half of a full claim fits into memory. This avoids many small claims.
        if limit == 0 || limit < settings.claim_max.min(capacity.claims_max()).div_ceil(2) {
            return Claimed::NoCapacity;
        }
        let now = clock.now();
        let (lease, lease_until) = self.shared.new_lease(now);
        let per_target_max = CLAIM_PER_TARGET_MAX;
        let full = self.shared.full_targets.take();
        let oldest = now.minus(settings.retention);
        let claim = Claim { now, oldest, limit, per_target_max, full, lease, lease_until };
        let Some(due) = self.claim_outage.record(outbox.claim(&claim)) else {
            return Claimed::All;
        };
        let claimed = classify(&due, limit);
        let connected = self.keep_connected(due);
        self.workers.submit(connected);
        claimed
    }

    /// Returns the deliveries that this node can attempt. Releases all others to the database: deliveries to
    /// [relays](crate::relay) without a connection to this node. If the database fails, these deliveries are claimed
    /// again when their leases end.
    fn keep_connected(&mut self, due: Vec<LeasedDelivery>) -> Vec<LeasedDelivery> {
        let relays = &self.shared.relays;
        let (due, elsewhere): (Vec<_>, Vec<_>) = due.into_iter().partition(|delivery| {
            !delivery.target.is_relay() || relays.is_connected(&delivery.target.webhook_id)
        });
        let held: Vec<_> =
            elsewhere.iter().map(|delivery| (delivery.id(), delivery.lease)).collect();
        if !held.is_empty() {
            let now = self.shared.clock.now();
            self.release_outage.record(self.shared.outbox.await_relay(&held, now));
        }
        due
    }
}

fn classify(due: &[LeasedDelivery], limit: usize) -> Claimed {
    if due.len() >= limit {
        Claimed::LimitReached
    } else if count_by_target(due).values().any(|count| *count >= CLAIM_PER_TARGET_MAX) {
        Claimed::TargetCapped
    } else {
        Claimed::All
    }
}

pub(super) fn count_by_target(deliveries: &[LeasedDelivery]) -> HashMap<WebhookId, usize> {
    let mut counts = HashMap::new();
    for delivery in deliveries {
        *counts.entry(delivery.target.webhook_id).or_default() += 1;
    }
    counts
}

/// The result of a claim. Determines how long the sweeper waits before the next claim.
enum Claimed {
    /// The claim found fewer deliveries than its limits, so no due delivery is left. Also the result if the claim
    /// failed, or if a thread of the dispatcher has ended unexpectedly.
    All,
    /// The claim reached its limit, so more deliveries may be due.
    LimitReached,
    /// No claim was made, because the deliveries in memory leave too little capacity.
    NoCapacity,
    /// A target reached its limit of deliveries per claim and may have more due deliveries.
    TargetCapped,
}

/// Maximum number of deliveries to one target that one claim leases, if other targets have due deliveries.
const CLAIM_PER_TARGET_MAX: usize = 64;
/// Divisor of `sweep_every` for the short pause after a claim in which a target has reached its limit, or without free
/// capacity. The short pause allows full throughput. It is long enough that the deliveries of a hanging target do not
/// fill the memory.
const CAPPED_SWEEP_DIVISOR: u32 = 20;

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::sync::mpsc::unbounded_channel;

    use super::*;
    use crate::{
        dispatcher::{Dependencies, shared_state::RunningThread, worker_inboxes::WorkerMessage},
        tests::{
            fixture::{TestClock, dependencies, settings},
            memory_outbox::{MemoryOutbox, delivery},
        },
    };

    #[test]
    fn nothing_is_claimed_after_a_thread_ended_unexpectedly() {
        let (outbox, clock) = (Arc::new(MemoryOutbox::default()), Arc::new(TestClock::default()));
        clock.advance(Duration::from_hours(500_000));
        let store = Arc::<MemoryOutbox>::clone(&outbox);
        let dependencies = Dependencies { outbox: store, clock, ..dependencies() };
        let shared = Arc::new(SharedState::new(settings(), dependencies, 0));
        let (sender, mut inbox) = unbounded_channel();
        let workers = Arc::new(WorkerInboxes::new(vec![sender], Arc::clone(&shared)));
        let mut sweeper = Sweeper::new(workers, Arc::clone(&shared));
        outbox.insert(&delivery(1, 0), false);
        let mut threads: Vec<_> = (0..6).map(|_| RunningThread::start(&shared)).collect();
        threads.pop();
        sweeper.claim();
        assert_eq!(outbox.row(delivery(1, 0).id()).claimed, 0);
        threads.push(RunningThread::start(&shared));
        sweeper.claim();
        assert_eq!(outbox.row(delivery(1, 0).id()).claimed, 1);
        assert!(matches!(inbox.try_recv(), Ok(WorkerMessage::Deliver(due)) if due.len() == 1));
    }
}
