//! One thread that sends: it owns the queues, connections and keys of its targets, and nothing in it is locked.

use std::{
    collections::HashMap,
    error::Error,
    rc::Rc,
    sync::{Arc, mpsc},
};

use actix_rt::time::{interval, timeout};
use sealpost_domain::{
    AttemptFailure, Clock, DeliveryId, LeaseToken, LeasedDelivery, Outcome, Settlement,
};
use sealpost_wallet::Keyring;
use tokio::{
    sync::mpsc::UnboundedReceiver,
    task::{Id, JoinError, JoinSet},
};

use crate::{
    channel::Channel, client::Egress, figures, lanes::Order, notice::Notice, settings::Settings,
    shared::Shared, targets::Targets,
};

/// What names a held delivery when it is given back.
pub(crate) type Held = (DeliveryId, LeaseToken);

type Attempt = Result<(), AttemptFailure>;

pub(crate) struct Lane {
    pub(crate) context: Context,
    pub(crate) egress: Egress,
    pub(crate) targets: Targets,
    /// Requests under way, and what each of them carries.
    pub(crate) attempts: JoinSet<Attempt>,
    pub(crate) under_way: HashMap<Id, LeasedDelivery>,
}

/// What a lane gets from the dispatcher.
pub(crate) struct Context {
    pub(crate) settings: Arc<Settings>,
    pub(crate) keyring: Arc<Keyring>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) shared: Arc<Shared>,
    pub(crate) inbox: UnboundedReceiver<Order>,
    pub(crate) outcomes: mpsc::Sender<Settlement>,
}

impl Lane {
    pub(crate) fn new(context: Context, egress: Egress) -> Self {
        let targets = Targets::new(context.settings.in_flight_per_target);
        Self { context, egress, targets, attempts: JoinSet::new(), under_way: HashMap::new() }
    }

    /// Sends until it is told to stop, then lets what is under way finish. Returns what it still holds.
    pub(crate) async fn run(mut self) -> Vec<Held> {
        let mut tidy_time = interval(TIDY_EVERY);
        loop {
            tokio::select! {
                order = self.context.inbox.recv() => match order {
                    Some(Order::Deliver(deliveries)) => self.accept(deliveries),
                    Some(Order::Stop) | None => break,
                },
                Some(ended) = self.attempts.join_next_with_id() => self.finish(ended),
                _ = tidy_time.tick() => self.tidy(),
            }
            self.launch();
        }
        self.drain().await
    }

    fn accept(&mut self, deliveries: Vec<LeasedDelivery>) {
        let room = &self.context.shared.room;
        for delivery in deliveries {
            // Refused for now: it comes back when its lease has ended.
            if !self.targets.push(delivery, room.free()) {
                room.give_back(1);
            }
        }
    }

    fn launch(&mut self) {
        if self.context.shared.stop.was_said() {
            return;
        }
        while self.attempts.len() < self.context.settings.in_flight_max {
            let Some(delivery) = self.targets.next() else { return };
            let target = delivery.target.webhook_id;
            if !self.begin(delivery) {
                self.targets.finished(target);
                self.context.shared.room.give_back(1);
            }
        }
    }

    /// Begins an attempt; `false` where none can be made now, so that the delivery waits for the end of its lease.
    fn begin(&mut self, delivery: LeasedDelivery) -> bool {
        let now = self.context.clock.now();
        if delivery.lease_until.since(now) < self.context.settings.attempt_max() {
            return false;
        }
        let Some(channel) = self.channel_for(&delivery) else { return false };
        let notice = match Notice::new(&delivery.meta, &channel.key, now) {
            Ok(notice) => notice,
            Err(fault) => {
                let error: &(dyn Error + 'static) = &fault;
                tracing::error!(error, envelope.id = %delivery.meta.id, "a notice cannot be made");
                return false;
            }
        };
        let attempt = self.attempts.spawn_local(async move { channel.send(notice).await });
        self.under_way.insert(attempt.id(), delivery);
        true
    }

    fn channel_for(&mut self, delivery: &LeasedDelivery) -> Option<Rc<Channel>> {
        let (target, id) = (&delivery.target, delivery.target.webhook_id);
        if let Some(channel) = self.targets.channel(id)
            && channel.serves(target)
        {
            return Some(Rc::clone(channel));
        }
        match Channel::open(target, &self.context.keyring, &self.egress) {
            Ok(channel) => {
                let channel = Rc::new(channel);
                self.targets.remember(id, Rc::clone(&channel));
                Some(channel)
            }
            Err(fault) => {
                let error: &(dyn Error + 'static) = &fault;
                tracing::error!(error, webhook.id = %id, "a signing secret cannot be read");
                None
            }
        }
    }

    fn finish(&mut self, ended: Result<(Id, Attempt), JoinError>) {
        let (id, attempt) = match ended {
            Ok(ended) => ended,
            Err(fault) => {
                let error: &(dyn Error + 'static) = &fault;
                tracing::error!(error, "an attempt broke off");
                (fault.id(), Err(AttemptFailure::Protocol))
            }
        };
        if let Some(delivery) = self.under_way.remove(&id) {
            self.targets.finished(delivery.target.webhook_id);
            self.settle(&delivery, attempt);
        }
    }

    fn settle(&self, delivery: &LeasedDelivery, attempt: Attempt) {
        let at = self.context.clock.now();
        let attempts = delivery.attempts.saturating_add(1);
        let outcome = match attempt {
            Ok(()) => Outcome::Succeeded,
            Err(failure) => match self.context.settings.schedule.next(attempts, jitter()) {
                Some(pause) => Outcome::Retry { failure, due_at: at.plus(pause) },
                None => Outcome::Exhausted(failure),
            },
        };
        figures::settled(&outcome);
        tracing::debug!(
            envelope.id = %delivery.meta.id,
            webhook.id = %delivery.target.webhook_id,
            delivery.attempt = attempts,
            delivery.outcome = ?outcome,
            "attempted"
        );
        let settlement =
            Settlement { id: delivery.id(), lease: delivery.lease, attempts, at, outcome };
        if self.context.outcomes.send(settlement).is_err() {
            self.context.shared.room.give_back(1);
        }
    }

    fn tidy(&mut self) {
        let needed = self.context.clock.now().plus(self.context.settings.attempt_max());
        self.context.shared.room.give_back(self.targets.tidy(needed));
    }

    async fn drain(mut self) -> Vec<Held> {
        self.context.inbox.close();
        while let Some(order) = self.context.inbox.recv().await {
            if let Order::Deliver(deliveries) = order {
                self.accept(deliveries);
            }
        }
        let within = self.context.settings.drain;
        let finished = timeout(within, async {
            while let Some(ended) = self.attempts.join_next_with_id().await {
                self.finish(ended);
            }
        });
        drop(finished.await);
        self.attempts.shutdown().await;
        let queued = self.targets.into_queued();
        self.under_way.into_values().chain(queued).map(|held| (held.id(), held.lease)).collect()
    }
}

/// A retry without jitter is still right, so a failing random source is no reason to stop.
fn jitter() -> u32 {
    sealpost_wallet::random().map_or(0, u32::from_ne_bytes)
}

const TIDY_EVERY: std::time::Duration = std::time::Duration::from_secs(1);
