//! One thread that sends: it owns the queues, connections and keys of its targets, and nothing in it is locked.

mod ending;

use std::{
    collections::HashMap,
    error::Error,
    rc::Rc,
    sync::{Arc, mpsc},
    time::{Duration, Instant},
};

use actix_rt::time::{interval, timeout};
use sealpost_domain::{
    Clock, DeliveryId, LeaseToken, LeasedDelivery, WebhookId, ports::EventSigner,
};
use sealpost_wallet::Keyring;
use tokio::{
    sync::mpsc::UnboundedReceiver,
    task::{Id, JoinSet},
};

use crate::{
    answer::Attempted,
    channel::Channel,
    client::Egress,
    lanes::Order,
    notice::Notice,
    postponed::ROWS_MAX,
    settings::Settings,
    settler::Writing,
    shared::Shared,
    targets::{Census, Heard, Targets},
    turns::Place,
};

/// What names a held delivery when it is given back.
pub(crate) type Held = (DeliveryId, LeaseToken);

/// What came of an attempt, and how long it took.
type Attempt = (Attempted, Duration);

pub(crate) struct Lane {
    pub(crate) context: Context,
    pub(crate) egress: Egress,
    pub(crate) targets: Targets,
    /// Requests under way, and what each of them carries.
    pub(crate) attempts: JoinSet<Attempt>,
    pub(crate) under_way: HashMap<Id, (LeasedDelivery, Place)>,
}

/// What a lane gets from the dispatcher.
pub(crate) struct Context {
    /// Which of the lanes it is.
    pub(crate) number: usize,
    pub(crate) settings: Arc<Settings>,
    pub(crate) keyring: Arc<Keyring>,
    pub(crate) signer: Option<Arc<dyn EventSigner>>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) shared: Arc<Shared>,
    pub(crate) inbox: UnboundedReceiver<Order>,
    pub(crate) writings: mpsc::Sender<Writing>,
}

impl Lane {
    pub(crate) fn new(context: Context, egress: Egress) -> Self {
        let targets = Targets::new(&context.settings);
        Self { context, egress, targets, attempts: JoinSet::new(), under_way: HashMap::new() }
    }

    /// Sends until it is told to stop, then lets what is under way finish. Returns what it still holds.
    pub(crate) async fn run(mut self) -> Vec<Held> {
        let mut tidy_time = interval(TIDY_EVERY);
        loop {
            tokio::select! {
                order = self.context.inbox.recv() => match order {
                    Some(Order::Deliver(deliveries)) => self.accept(deliveries),
                    Some(Order::Withdraw(ended)) => self.withdraw(&ended),
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
        let (room, now) = (&self.context.shared.room, self.context.clock.now());
        for delivery in deliveries {
            // Refused for now: it comes back when its lease has ended.
            if !self.targets.push(delivery, room.free(), now) {
                room.give_back(1);
            }
        }
    }

    /// What is under way goes on: it has left already.
    fn withdraw(&mut self, ended: &[WebhookId]) {
        let now = self.context.clock.now();
        for id in ended {
            self.targets.withdraw(*id, now);
        }
        self.postpone();
    }

    fn launch(&mut self) {
        // Many at once would take up room that others need; few can wait until it is tidied.
        if self.targets.postponed() >= ROWS_MAX {
            self.postpone();
        }
        if self.context.shared.stop.was_said() {
            return;
        }
        while let Some((delivery, place)) = self.targets.next() {
            if let Err((target, place)) = self.begin(delivery, place) {
                let now = self.context.clock.now();
                self.targets.finished(target, &place, Heard::NotTried, now);
                self.context.shared.room.give_back(1);
            }
        }
    }

    /// Begins an attempt, or gives the place back where none can be made now, so that the delivery waits for the end
    /// of its lease.
    fn begin(&mut self, delivery: LeasedDelivery, place: Place) -> Result<(), (WebhookId, Place)> {
        let Some((channel, notice)) = self.prepare(&delivery) else {
            return Err((delivery.target.webhook_id, place));
        };
        let attempt = self.attempts.spawn_local(async move {
            let began = Instant::now();
            (channel.send(notice).await, began.elapsed())
        });
        self.under_way.insert(attempt.id(), (delivery, place));
        Ok(())
    }

    fn prepare(&mut self, delivery: &LeasedDelivery) -> Option<(Rc<Channel>, Notice)> {
        let now = self.context.clock.now();
        if delivery.lease_until.since(now) < self.context.settings.attempt_max() {
            return None;
        }
        let channel = self.channel_for(delivery)?;
        let notice = Notice::new(&delivery.meta, &channel.signers, now).inspect_err(|fault| {
            let error: &(dyn Error + 'static) = fault;
            tracing::error!(error, envelope.id = %delivery.meta.id, "a notice cannot be made");
        });
        Some((channel, notice.ok()?))
    }

    fn channel_for(&mut self, delivery: &LeasedDelivery) -> Option<Rc<Channel>> {
        let (target, id) = (&delivery.target, delivery.target.webhook_id);
        if let Some(channel) = self.targets.channel(id)
            && channel.serves(target)
        {
            return Some(Rc::clone(channel));
        }
        let Context { keyring, signer, .. } = &self.context;
        match Channel::open(target, keyring, &self.egress, signer.as_ref()) {
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

    fn tidy(&mut self) {
        let needed = self.context.clock.now().plus(self.context.settings.attempt_max());
        self.context.shared.room.give_back(self.targets.tidy(needed));
        self.postpone();
        self.targets.find_probes(self.context.clock.now());
        self.expedite();
        self.context.shared.waiting.tell(self.targets.waiting());
        self.show();
    }

    fn show(&self) {
        if let Some(gauges) = self.context.shared.lanes.get(self.context.number) {
            gauges.show(self.targets.census(), self.under_way.len());
        }
    }

    fn show_nothing(&self) {
        if let Some(gauges) = self.context.shared.lanes.get(self.context.number) {
            gauges.show(Census::default(), 0);
        }
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
        self.postpone();
        self.show_nothing();
        let under_way = self.under_way.into_values().map(|(delivery, _)| delivery);
        let held = under_way.chain(self.targets.into_queued());
        held.map(|held| (held.id(), held.lease)).collect()
    }
}

const TIDY_EVERY: Duration = Duration::from_secs(1);
