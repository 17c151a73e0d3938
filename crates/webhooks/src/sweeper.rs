//! Asks the database for what is due: retries, what found no room, and what a dead node held. One thread.

use std::{sync::Arc, time::Duration};

use sealpost_domain::{
    Clock,
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
    outage: Outage,
}

impl Sweeper {
    pub(crate) fn new(
        settings: &Settings,
        lanes: Arc<Lanes>,
        outbox: Arc<dyn Outbox>,
        clock: Arc<dyn Clock>,
        shared: Arc<Shared>,
    ) -> Self {
        let outage = Outage::of("claim");
        let Settings { lease, sweep_every: every, claim_max, claim_per_target_max, .. } = *settings;
        Self { lanes, outbox, clock, shared, lease, every, claim_max, claim_per_target_max, outage }
    }

    /// Sweeps until it is said to stop.
    pub(crate) fn run(mut self) {
        while !self.shared.stop.was_said() {
            if !self.claim() {
                self.shared.stop.wait(self.every);
            }
        }
    }

    /// Claims once; `true` where the claim came back full, so that more may be due.
    fn claim(&mut self) -> bool {
        let limit = self.claim_max.min(self.shared.room.free());
        if limit == 0 {
            return false;
        }
        let now = self.clock.now();
        let lease = self.shared.tokens.issue();
        let (lease_until, per_target_max) = (now.plus(self.lease), self.claim_per_target_max);
        match self.outbox.claim(&Claim { now, limit, per_target_max, lease, lease_until }) {
            Ok(due) => {
                self.outage.over();
                let is_full = due.len() >= limit;
                self.lanes.hand_over(due);
                is_full
            }
            Err(error) => {
                self.outage.failed(&error);
                false
            }
        }
    }
}
