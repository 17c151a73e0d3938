//! Sends deliveries on one thread. Only this thread uses the queues, connections and keys of its targets, so they need
//! no lock.

mod attempt_span;
mod attempts;
mod outcomes;

use std::{
    collections::HashMap,
    sync::{Arc, mpsc},
    time::Duration,
};

use actix_rt::time::{interval, timeout};
use sealpost_domain::{LeasedDelivery, Timestamp, WebhookId, ports::Relays as _};
use tokio::{
    sync::mpsc::UnboundedReceiver,
    task::{Id, JoinSet},
};

use self::attempt_span::AttemptSpan;
use super::{
    outcome_writer::OutcomeMessage,
    shared_state::SharedState,
    worker_inboxes::{TargetRefresh, WorkerMessage},
};
use crate::{
    circuit_breaker::HealthSign,
    http::{client::ClientFactory, sender_cache::SenderCache},
    local_error::Unsent,
    queue::{
        fair_queue::Slot,
        release_batch::{HeldDelivery, RELEASE_BATCH_MAX},
        target_queues::{QueueCounts, TargetQueues},
    },
    retry::attempt_report::AttemptReport,
    settings::{KEEP_ALIVE, SENDERS_MAX},
};

/// The result and the duration of an ended attempt. [`Unsent`] means that the attempt could not be made, and is not
/// counted.
type FinishedAttempt = (Result<AttemptReport, Unsent>, Duration);

pub(super) struct DeliveryWorker {
    context: WorkerContext,
    clients: ClientFactory,
    targets: TargetQueues,
    senders: SenderCache,
    attempts: JoinSet<FinishedAttempt>,
    /// The running attempts, by the id of the task that makes the attempt.
    in_flight: HashMap<Id, RunningAttempt>,
    /// Deliveries to [relays](crate::relay) without a connection to this node, to be returned to the database.
    awaiting_relay: Vec<HeldDelivery>,
    /// The time at which a fault of this node was last logged.
    local_fault_logged_at: Option<Timestamp>,
}

/// A delivery with a request in flight.
struct RunningAttempt {
    delivery: LeasedDelivery,
    /// Counts the attempt against the limits of requests in flight.
    slot: Slot,
    /// The time that the signature of the request covers.
    signed_at: Timestamp,
    span: Option<AttemptSpan>,
}

/// The shared objects and channels of one delivery worker.
pub(super) struct WorkerContext {
    /// Index of this worker in shared lists that have one entry for each worker.
    pub(super) index: usize,
    pub(super) shared: Arc<SharedState>,
    pub(super) inbox: UnboundedReceiver<WorkerMessage>,
    pub(super) outcomes: mpsc::Sender<OutcomeMessage>,
}

impl DeliveryWorker {
    pub(super) fn new(context: WorkerContext, clients: ClientFactory) -> Self {
        let SharedState { settings, host_rates, .. } = &*context.shared;
        Self {
            targets: TargetQueues::new(settings, Arc::clone(host_rates)),
            senders: SenderCache::new(SENDERS_MAX, KEEP_ALIVE),
            context,
            clients,
            attempts: JoinSet::new(),
            in_flight: HashMap::new(),
            awaiting_relay: Vec::new(),
            local_fault_logged_at: None,
        }
    }

    /// Sends deliveries until the shutdown, then waits for the requests in flight. Returns the deliveries without an
    /// outcome. The caller must release their leases.
    pub(super) async fn run(mut self) -> Vec<HeldDelivery> {
        let mut maintenance = interval(MAINTENANCE_INTERVAL);
        let mut refresh_check = interval(REFRESH_CHECK_INTERVAL);
        loop {
            tokio::select! {
                message = self.context.inbox.recv() => match message {
                    Some(WorkerMessage::Deliver(deliveries)) => self.accept(deliveries),
                    Some(WorkerMessage::Connect(relays)) => self.reconnect(&relays),
                    Some(WorkerMessage::Disconnect(relays)) => self.disconnect(&relays),
                    Some(WorkerMessage::Refresh(refresh)) => self.refresh(refresh),
                    Some(WorkerMessage::Stop) | None => break,
                },
                Some(finished) = self.attempts.join_next_with_id() => self.finish(finished),
                _ = maintenance.tick() => self.maintain(),
                _ = refresh_check.tick() => self.report_aging_targets(),
            }
            self.start_attempts();
            self.report_full_targets();
        }
        self.drain().await
    }

    fn accept(&mut self, deliveries: Vec<LeasedDelivery>) {
        let SharedState { capacity, clock, .. } = &*self.context.shared;
        let now = clock.now();
        let mut has_refused = false;
        for delivery in deliveries {
            has_refused |= !self.targets.push(delivery, capacity.free(), now);
        }
        if has_refused {
            // Reports the full targets first, and then releases the deliveries that found no place in a queue. In the
            // other order, the next claim would lease the same deliveries again.
            self.report_full_targets();
            self.release_deferred();
        }
    }

    fn reconnect(&mut self, relays: &[WebhookId]) {
        self.targets.reconnect(relays, self.context.shared.clock.now());
        self.expedite();
    }

    fn disconnect(&mut self, relays: &[WebhookId]) {
        self.targets.disconnect(relays, self.context.shared.clock.now());
        self.expedite();
    }

    /// If the set of full targets has changed, reports it to the thread that claims deliveries, so that further
    /// deliveries to these targets stay in the database. A target is full if its account has too many deliveries in
    /// memory.
    fn report_full_targets(&mut self) {
        let shared = &self.context.shared;
        if let Some(full) = self.targets.changed_full_targets(shared.capacity.free()) {
            shared.full_targets.set(self.context.index, full);
        }
    }

    /// Replaces targets that were read again. Returns the queued deliveries of deleted, disabled and paused webhooks to
    /// the database. Requests in flight continue.
    fn refresh(&mut self, TargetRefresh { active, inactive, read_at }: TargetRefresh) {
        let now = self.context.shared.clock.now();
        for target in active {
            self.targets.refresh(&Arc::new(target), read_at, now);
        }
        for id in inactive {
            self.targets.withdraw(id, now);
        }
        self.release_deferred();
    }

    fn report_aging_targets(&self) {
        let now = self.context.shared.clock.now();
        self.context.shared.aging_targets.lock().extend(self.targets.targets_to_refresh(now));
    }

    fn start_attempts(&mut self) {
        // Releases a full batch to the database now, because deliveries that wait for their release use memory. A
        // smaller batch waits for `maintain`, which runs every second.
        if self.targets.to_release() >= RELEASE_BATCH_MAX {
            self.release_deferred();
        }
        if self.context.shared.shutdown.is_raised() {
            return;
        }
        let now = self.context.shared.clock.now();
        while let Some((delivery, slot)) = self.targets.next_delivery(now) {
            let target = delivery.target.webhook_id;
            if delivery.target.is_relay() && !self.context.shared.relays.is_connected(&target) {
                self.targets.finish(target, &slot, HealthSign::NotAttempted, now);
                self.await_relay(delivery);
                continue;
            }
            self.start_attempt(delivery, slot);
        }
        self.release_to_relays();
    }

    fn maintain(&mut self) {
        let now = self.context.shared.clock.now();
        self.targets.remove_expired(now.plus(self.context.shared.settings.lease_min()), now);
        self.targets.retry_hosts();
        self.senders.evict_idle();
        self.release_deferred();
        self.targets.schedule_probes(self.context.shared.clock.now());
        self.expedite();
        self.set_gauges(self.targets.counts());
    }

    fn set_gauges(&self, counts: QueueCounts) {
        if let Some(gauges) = self.context.shared.gauges.get(self.context.index) {
            gauges.set(counts, self.in_flight.len());
        }
    }

    async fn drain(mut self) -> Vec<HeldDelivery> {
        self.context.inbox.close();
        while let Some(message) = self.context.inbox.recv().await {
            if let WorkerMessage::Deliver(deliveries) = message {
                self.accept(deliveries);
            }
        }
        let drain = self.context.shared.settings.drain;
        let finished = timeout(drain, async {
            while let Some(finished) = self.attempts.join_next_with_id().await {
                self.finish(finished);
            }
        });
        drop(finished.await);
        self.attempts.shutdown().await;
        self.release_deferred();
        self.release_to_relays();
        let in_flight = std::mem::take(&mut self.in_flight).into_values();
        self.set_gauges(QueueCounts::default());
        let held = in_flight.map(|attempt| attempt.delivery).chain(self.targets.into_queued());
        held.map(|delivery| (delivery.id(), delivery.lease)).collect()
    }
}

const MAINTENANCE_INTERVAL: Duration = Duration::from_secs(1);
const REFRESH_CHECK_INTERVAL: Duration = Duration::from_millis(250);
