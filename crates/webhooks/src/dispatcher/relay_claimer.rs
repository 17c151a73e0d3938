//! Claims (leases) the deliveries of [relays](crate::relay) that are connected to this node. Runs on one thread.
//!
//! Any node may store a delivery to a relay. The node with the connection of the relay reads the newest waiting
//! deliveries from the database several times a second. This read takes one look-up in an index, however many relays
//! are connected.

use std::{collections::HashSet, sync::Arc, time::Duration};

use sealpost_domain::{
    Timestamp, WebhookId,
    ports::{Claim, Relays as _, StoreError},
};

use super::{
    outage_log::OutageLog,
    shared_state::SharedState,
    sweeper::count_by_target,
    worker_inboxes::{WorkerInboxes, WorkerMessage},
};

pub(super) struct RelayClaimer {
    workers: Arc<WorkerInboxes>,
    shared: Arc<SharedState>,
    /// Relays that may have waiting deliveries.
    backlog: HashSet<WebhookId>,
    searched_at: Timestamp,
    /// The last webhook that the running search has returned; its next query continues after it. `None` if no search
    /// runs.
    search_after: Option<WebhookId>,
}

impl RelayClaimer {
    pub(super) fn new(workers: Arc<WorkerInboxes>, shared: Arc<SharedState>) -> Self {
        let searched_at = shared.clock.now();
        Self { workers, shared, backlog: HashSet::new(), searched_at, search_after: None }
    }

    /// Claims deliveries until the shutdown.
    pub(super) fn run(mut self) {
        let mut outage = OutageLog::new("claim for relays");
        while !self.shared.shutdown.is_raised() {
            let has_more = match self.step() {
                // A step without a query does not show whether an outage has ended.
                Ok(None) => None,
                step => outage.record(step).flatten(),
            };
            if !has_more.unwrap_or_default() {
                self.shared.shutdown.sleep(POLL_INTERVAL);
            }
        }
    }

    /// Claims once. Returns true if the next claim should follow without a pause. Returns `None` if the database was
    /// not queried.
    fn step(&mut self) -> Result<Option<bool>, StoreError> {
        // Claims nothing after a thread has ended unexpectedly, because the claimed deliveries would not be sent, or
        // their outcomes would not be recorded.
        if self.shared.is_broken() {
            return Ok(None);
        }
        let shared = Arc::clone(&self.shared);
        let (relays, outbox, now) = (&shared.relays, &shared.outbox, shared.clock.now());
        // Reports ended connections first, because a receiver may have connected again.
        let detached = relays.take_detached().into_iter().collect();
        self.workers.report(detached, WorkerMessage::Disconnect);
        let attached = relays.take_attached();
        self.workers.report(attached.iter().copied().collect(), WorkerMessage::Connect);
        self.backlog.extend(attached);
        let is_search_due = now.abs_diff(self.searched_at) >= SEARCH_INTERVAL;
        if is_search_due {
            self.searched_at = now;
            while outbox.leave_relays(LEAVE_BATCH_MAX)? >= LEAVE_BATCH_MAX {}
        }
        if relays.is_empty() {
            self.backlog.clear();
            return Ok(is_search_due.then_some(false));
        }
        if is_search_due || self.search_after.is_some() {
            let found = outbox.relays_waiting(self.search_after, SEARCH_MAX)?;
            self.search_after = found.get(SEARCH_MAX - 1).copied();
            self.backlog.extend(found);
        }
        let arrived = outbox.relay_arrivals(now.minus(ARRIVALS_WINDOW), now, ARRIVALS_MAX)?;
        self.backlog.extend(arrived);
        self.backlog.retain(|id| relays.is_connected(id));
        self.claim(now).map(Some)
    }

    fn claim(&mut self, now: Timestamp) -> Result<bool, StoreError> {
        let SharedState { settings, capacity, full_targets, outbox, .. } = &*self.shared;
        let limit = settings.claim_max.min(capacity.free_for_claims());
        let full = full_targets.current();
        let open = self.backlog.iter().filter(|id| !full.contains(id));
        let webhooks: Vec<_> = open.take(limit).copied().collect();
        let Some(per_target_max) = limit.checked_div(webhooks.len()) else { return Ok(false) };
        let (lease, lease_until) = self.shared.new_lease(now);
        let claim = Claim {
            now,
            oldest: now.minus(settings.retention),
            limit,
            per_target_max,
            full: Vec::new(),
            lease,
            lease_until,
        };
        let claimed = outbox.claim_relays(&webhooks, &claim)?;
        let counts = count_by_target(&claimed);
        self.workers.submit(claimed);
        for id in webhooks {
            if counts.get(&id).is_none_or(|count| *count < per_target_max) {
                self.backlog.remove(&id);
            }
        }
        Ok(!self.backlog.is_empty())
    }
}

/// Time between two look-ups of new deliveries to connected relays.
const POLL_INTERVAL: Duration = Duration::from_millis(100);
/// Maximum time since a delivery became due at which a look-up still reads it. Longer than a transaction, so that a
/// look-up also finds a delivery whose transaction commits late.
const ARRIVALS_WINDOW: Duration = Duration::from_secs(2);
/// Maximum number of deliveries that one look-up reads, newest first.
const ARRIVALS_MAX: usize = 2_000;
/// Time between two searches of all waiting deliveries, which find deliveries that all look-ups have missed.
const SEARCH_INTERVAL: Duration = Duration::from_secs(10);
/// Maximum number of webhooks that one query of a search returns. If a query returns this number, the search continues
/// with another query.
const SEARCH_MAX: usize = 1_000;
/// Maximum number of deliveries that one transaction makes claimable by all nodes, because their webhook is no longer a
/// relay.
const LEAVE_BATCH_MAX: usize = 1_000;

#[cfg(test)]
mod tests {
    use tokio::sync::mpsc::unbounded_channel;

    use super::*;
    use crate::{
        dispatcher::{Dependencies, shared_state::RunningThread},
        tests::fixture::{TestClock, dependencies, settings},
    };

    #[test]
    fn a_step_without_a_query_does_not_end_an_outage() {
        let clock = Arc::new(TestClock::default());
        let time = Arc::<TestClock>::clone(&clock);
        let dependencies = Dependencies { clock: time, ..dependencies() };
        let shared = Arc::new(SharedState::new(settings(), dependencies, 0));
        let _threads: Vec<_> = (0..6).map(|_| RunningThread::start(&shared)).collect();
        let (sender, _inbox) = unbounded_channel();
        let workers = Arc::new(WorkerInboxes::new(vec![sender], Arc::clone(&shared)));
        let mut claimer = RelayClaimer::new(workers, shared);
        assert!(matches!(claimer.step(), Ok(None)));
        clock.advance(SEARCH_INTERVAL);
        assert!(matches!(claimer.step(), Ok(Some(false))));
        assert!(matches!(claimer.step(), Ok(None)));
    }
}
