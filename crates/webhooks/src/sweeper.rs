//! Asks the database for what is due: retries, what found no room, and what a dead node held; and what must not be sent
//! any more of what waits in memory. One thread.

use std::{collections::HashMap, sync::Arc, time::Duration};

use sealpost_domain::{
    Clock, LeasedDelivery, WebhookId,
    ports::{Claim, Outbox},
};

use crate::{lanes::Lanes, outage::Outage, settings::Settings, shared::Shared};

pub(crate) struct Sweeper {
    pub(crate) lanes: Arc<Lanes>,
    pub(crate) outbox: Arc<dyn Outbox>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) shared: Arc<Shared>,
    pub(crate) lease: Duration,
    pub(crate) every: Duration,
    pub(crate) claim_max: usize,
    pub(crate) claim_per_target_max: usize,
    claiming: Outage,
    withdrawing: Outage,
}

impl Sweeper {
    pub(crate) fn new(
        settings: &Settings,
        lanes: Arc<Lanes>,
        outbox: Arc<dyn Outbox>,
        clock: Arc<dyn Clock>,
        shared: Arc<Shared>,
    ) -> Self {
        let Settings { lease, sweep_every: every, claim_max, claim_per_target_max, .. } = *settings;
        Self {
            lanes,
            outbox,
            clock,
            shared,
            lease,
            every,
            claim_max,
            claim_per_target_max,
            claiming: Outage::of("claim"),
            withdrawing: Outage::of("withdraw"),
        }
    }

    /// Sweeps until it is said to stop.
    pub(crate) fn run(mut self) {
        while !self.shared.stop.was_said() {
            self.withdraw();
            match self.claim() {
                Found::All => self.shared.stop.wait(self.every),
                Found::AllButOfSomeTarget | Found::NoRoom => {
                    self.shared.stop.wait(self.every / CAPPED_PACE);
                }
                Found::Enough => {}
            }
        }
    }

    /// Has what waits on this node for webhooks that were deleted or disabled meanwhile given back. Only lanes that
    /// have something queued ask for it, once a second; what the database fails to say is asked again.
    fn withdraw(&mut self) {
        for some in self.shared.waiting.take().chunks(ASKED_MAX) {
            match self.outbox.no_longer_enabled(some) {
                Ok(ended) => {
                    self.withdrawing.over();
                    self.lanes.withdraw(ended);
                }
                Err(error) => return self.withdrawing.failed(&error),
            }
        }
    }

    fn claim(&mut self) -> Found {
        // What it takes nobody would send, or nobody would write down that it was sent.
        if self.shared.is_broken() {
            return Found::All;
        }
        let room = &self.shared.room;
        let limit = self.claim_max.min(room.free_for_claims());
        // Rather none than a few at a time.
        if limit == 0 || limit < self.claim_max.min(room.claims_max()).div_ceil(2) {
            return Found::NoRoom;
        }
        let now = self.clock.now();
        let lease = self.shared.tokens.issue();
        let (lease_until, per_target_max) = (now.plus(self.lease), self.claim_per_target_max);
        match self.outbox.claim(&Claim { now, limit, per_target_max, lease, lease_until }) {
            Ok(due) => {
                self.claiming.over();
                let found = self.judge(&due, limit);
                self.lanes.hand_over(due);
                found
            }
            Err(error) => {
                self.claiming.failed(&error);
                Found::All
            }
        }
    }

    fn judge(&self, due: &[LeasedDelivery], limit: usize) -> Found {
        let mut counts: HashMap<WebhookId, usize> = HashMap::new();
        for delivery in due {
            *counts.entry(delivery.target.webhook_id).or_default() += 1;
        }
        if due.len() >= limit {
            Found::Enough
        } else if counts.values().any(|count| *count >= self.claim_per_target_max) {
            Found::AllButOfSomeTarget
        } else {
            Found::All
        }
    }
}

/// What a claim says about what it left behind.
enum Found {
    /// Nothing that is due, or the database cannot say.
    All,
    /// A target may have more that is due than a claim takes of one.
    AllButOfSomeTarget,
    /// It is full, so that more may be due.
    Enough,
    /// What was taken before is still in the way.
    NoRoom,
}

/// How much sooner the database is asked again for a target that has much waiting, or once there is room: soon enough to
/// send at full speed, and not so soon that one that hangs fills the memory.
const CAPPED_PACE: u32 = 20;

/// About how many webhooks one statement asks.
const ASKED_MAX: usize = 1000;

#[cfg(test)]
mod tests {
    use tokio::sync::mpsc::unbounded_channel;

    use super::*;
    use crate::{
        lanes::Order,
        shared::Running,
        tests::{
            outbox::{MemoryOutbox, delivery},
            rig::{TestClock, settings},
        },
    };

    #[test]
    fn nothing_is_claimed_where_a_thread_has_ended_that_nobody_told_to() {
        let (settings, outbox) = (settings(), Arc::new(MemoryOutbox::default()));
        let shared = Arc::new(Shared::new(&settings, 0));
        let (orders, mut inbox) = unbounded_channel();
        let lanes = Arc::new(Lanes::new(vec![orders], Arc::clone(&shared)));
        let (store, clock) = (Arc::<MemoryOutbox>::clone(&outbox), Arc::new(TestClock::default()));
        clock.advance(Duration::from_hours(500_000));
        let mut sweeper = Sweeper::new(&settings, lanes, store, clock, Arc::clone(&shared));
        outbox.insert(&delivery(1, 0), false);
        let mut threads: Vec<_> = (0..3).map(|_| Running::begin(&shared)).collect();
        threads.pop();
        sweeper.claim();
        assert_eq!(outbox.row(delivery(1, 0).id()).claimed, 0);
        threads.push(Running::begin(&shared));
        sweeper.claim();
        assert_eq!(outbox.row(delivery(1, 0).id()).claimed, 1);
        assert!(matches!(inbox.try_recv(), Ok(Order::Deliver(due)) if due.len() == 1));
    }
}
