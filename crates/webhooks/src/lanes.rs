//! The way from the send path and the sweeper to the threads that send.

use std::{
    hash::{BuildHasher, BuildHasherDefault, DefaultHasher},
    sync::Arc,
};

use sealpost_domain::{LeasedDelivery, WebhookId};
use tokio::sync::mpsc::UnboundedSender;

use crate::shared::Shared;

/// What a lane is told.
pub(crate) enum Order {
    /// Send these.
    Deliver(Vec<LeasedDelivery>),
    /// Begin nothing more.
    Stop,
    /// Give back what is queued for these, which get nothing any more.
    Withdraw(Vec<WebhookId>),
}

/// All lanes, seen from outside.
pub(crate) struct Lanes {
    inboxes: Vec<UnboundedSender<Order>>,
    shared: Arc<Shared>,
}

impl Lanes {
    pub(crate) fn new(inboxes: Vec<UnboundedSender<Order>>, shared: Arc<Shared>) -> Self {
        Self { inboxes, shared }
    }

    /// Hands deliveries to the lanes of their targets. A target has one lane, so that its queue, its connections
    /// and what is known about it need no lock.
    pub(crate) fn hand_over(&self, deliveries: Vec<LeasedDelivery>) {
        self.shared.room.take(deliveries.len());
        let batches = self.share_out(deliveries, |delivery| delivery.target.webhook_id);
        for (inbox, batch) in self.inboxes.iter().zip(batches) {
            let count = batch.len();
            // A lane that has ended takes nothing: the leases end, and another node takes over.
            if count > 0 && inbox.send(Order::Deliver(batch)).is_err() {
                self.shared.room.give_back(count);
            }
        }
    }

    /// Has what waits for these webhooks given back.
    pub(crate) fn withdraw(&self, ended: Vec<WebhookId>) {
        for (inbox, batch) in self.inboxes.iter().zip(self.share_out(ended, |id| *id)) {
            if !batch.is_empty() {
                drop(inbox.send(Order::Withdraw(batch)));
            }
        }
    }

    pub(crate) fn stop(&self) {
        for inbox in &self.inboxes {
            drop(inbox.send(Order::Stop));
        }
    }

    fn share_out<T>(&self, all: Vec<T>, target: impl Fn(&T) -> WebhookId) -> Vec<Vec<T>> {
        let mut batches: Vec<Vec<T>> = self.inboxes.iter().map(|_| vec![]).collect();
        for one in all {
            let lane = self.lane_of(&target(&one));
            if let Some(batch) = batches.get_mut(lane) {
                batch.push(one);
            }
        }
        batches
    }

    fn lane_of(&self, webhook_id: &WebhookId) -> usize {
        let hash = BuildHasherDefault::<DefaultHasher>::default().hash_one(webhook_id);
        let count = u64::try_from(self.inboxes.len()).unwrap_or(u64::MAX).max(1);
        usize::try_from(hash % count).unwrap_or_default()
    }
}
