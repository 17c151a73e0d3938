//! Passes deliveries to the delivery workers: new ones from the send path, and due ones that the
//! [sweeper](super::sweeper) has leased from the database.

use std::{
    hash::{BuildHasher, BuildHasherDefault, DefaultHasher},
    sync::Arc,
};

use sealpost_domain::{LeasedDelivery, Target, Timestamp, WebhookId};
use tokio::sync::mpsc::UnboundedSender;

use super::shared_state::SharedState;

/// A message to a delivery worker.
pub(super) enum WorkerMessage {
    /// Asks the worker to send these deliveries.
    Deliver(Vec<LeasedDelivery>),
    /// Reports that the receivers of these [relays](crate::relay) have connected to this node.
    Connect(Vec<WebhookId>),
    /// Reports that the last connections of these [relays](crate::relay) to this node have ended.
    Disconnect(Vec<WebhookId>),
    /// Replaces the targets of webhooks with queued deliveries, because these targets were read again.
    Refresh(TargetRefresh),
    /// Asks the worker to start no more requests.
    Stop,
}

/// The result of reading the targets of some webhooks again.
pub(super) struct TargetRefresh {
    pub(super) active: Vec<Target>,
    /// Webhooks that are deleted, disabled or paused.
    pub(super) inactive: Vec<WebhookId>,
    /// The time at which the read began.
    pub(super) read_at: Timestamp,
}

/// The message queues of all delivery workers. The queues are unbounded, because the capacity of the dispatcher already
/// bounds the deliveries in all of them together.
pub(super) struct WorkerInboxes {
    inboxes: Vec<UnboundedSender<WorkerMessage>>,
    shared: Arc<SharedState>,
}

impl WorkerInboxes {
    pub(super) fn new(
        inboxes: Vec<UnboundedSender<WorkerMessage>>,
        shared: Arc<SharedState>,
    ) -> Self {
        Self { inboxes, shared }
    }

    /// Passes each delivery to the worker of its target. The deliveries to a target always have the same worker, so the
    /// queue, the connections and the circuit breaker of the target need no lock.
    pub(super) fn submit(&self, deliveries: Vec<LeasedDelivery>) {
        self.shared.capacity.acquire(deliveries.len());
        let batches = self.partition(deliveries, |delivery| delivery.target.webhook_id);
        for (inbox, batch) in self.inboxes.iter().zip(batches) {
            let count = batch.len();
            // If the worker has ended, another node sends the deliveries after their leases end.
            if count > 0 && inbox.send(WorkerMessage::Deliver(batch)).is_err() {
                self.shared.capacity.release(count);
            }
        }
    }

    pub(super) fn refresh(&self, refresh: TargetRefresh) {
        let TargetRefresh { active, inactive, read_at } = refresh;
        let active = self.partition(active, |target| target.webhook_id);
        let inactive = self.partition(inactive, |id| *id);
        for ((inbox, active), inactive) in self.inboxes.iter().zip(active).zip(inactive) {
            if !active.is_empty() || !inactive.is_empty() {
                let refresh = TargetRefresh { active, inactive, read_at };
                drop(inbox.send(WorkerMessage::Refresh(refresh)));
            }
        }
    }

    /// Reports connected or disconnected relays to the workers of their targets. `message` is
    /// [`WorkerMessage::Connect`] or [`WorkerMessage::Disconnect`].
    pub(super) fn report(
        &self,
        relays: Vec<WebhookId>,
        message: fn(Vec<WebhookId>) -> WorkerMessage,
    ) {
        for (inbox, relays) in self.inboxes.iter().zip(self.partition(relays, |id| *id)) {
            if !relays.is_empty() {
                drop(inbox.send(message(relays)));
            }
        }
    }

    pub(super) fn stop(&self) {
        for inbox in &self.inboxes {
            drop(inbox.send(WorkerMessage::Stop));
        }
    }

    /// Groups items by the delivery worker of their target, into one list for each worker. `target` returns the webhook
    /// of an item.
    fn partition<T>(&self, items: Vec<T>, target: impl Fn(&T) -> WebhookId) -> Vec<Vec<T>> {
        let mut batches: Vec<Vec<T>> = self.inboxes.iter().map(|_| vec![]).collect();
        for item in items {
            let worker = self.worker_of(&target(&item));
            if let Some(batch) = batches.get_mut(worker) {
                batch.push(item);
            }
        }
        batches
    }

    fn worker_of(&self, webhook_id: &WebhookId) -> usize {
        let hash = BuildHasherDefault::<DefaultHasher>::default().hash_one(webhook_id);
        let count = u64::try_from(self.inboxes.len()).unwrap_or(u64::MAX).max(1);
        usize::try_from(hash % count).unwrap_or_default()
    }
}
