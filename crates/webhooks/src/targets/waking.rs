//! What was put off and comes sooner after all: because its target has answered, or as the next probe.

use std::mem;

use sealpost_domain::{DeliveryId, LeasedDelivery, Timestamp, WebhookId, ports::ExpeditedDelivery};

use super::Targets;
use crate::{
    postponed::ROWS_MAX,
    pulse::{Change, Wait},
};

impl Targets {
    /// What was postponed is given back, and due at that time.
    pub(crate) fn gave_back(&mut self, id: DeliveryId, due_at: Timestamp, now: Timestamp) {
        if due_at > now {
            self.asleep.add(id, due_at);
        }
    }

    /// Has one of what waits for each target come as its next probe, where nothing else does.
    pub(crate) fn find_probes(&mut self, now: Timestamp) {
        self.asleep.tidy(now);
        for (id, state) in self.by_id.iter_mut().filter(|(_, state)| state.is_idle()) {
            if let Some(at) = state.pulse.wants_probe(now)
                && let Some(probe) = self.asleep.hasten_one(*id, at, now)
            {
                state.pulse.has_probe();
                self.expedited.push(probe);
            }
        }
    }

    /// Takes what is to be due sooner than it was said when it was given back.
    pub(crate) fn take_hastened(&mut self) -> Vec<ExpeditedDelivery> {
        mem::take(&mut self.expedited)
    }

    /// An answer brings back as many as may be under way at once, and their answers the others: a target that comes and
    /// goes costs no more than it answers. The answer that closes a breaker brings back more, since other nodes may take
    /// some, and have their answers.
    pub(super) fn wake(&mut self, id: WebhookId, change: Option<Change>, now: Timestamp) {
        let closed = change == Some(Change::Closed);
        let max = if closed { ROWS_MAX } else { self.in_flight_per_target };
        let is_put_off = |(delivery, wait): &mut (LeasedDelivery, Wait)| {
            delivery.target.webhook_id == id && wait.from > now
        };
        let kept =
            self.postponed.extract_if(.., is_put_off).take(max).map(|(delivery, _)| delivery);
        let kept: Vec<_> = kept.collect();
        self.expedited.extend(self.asleep.wake(id, max - kept.len(), now));
        if let Some(state) = self.by_id.get_mut(&id) {
            state.queue.extend(kept);
        }
    }
}
