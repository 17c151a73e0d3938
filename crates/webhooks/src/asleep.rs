//! What was given back to the database because its target does not answer: remembered until it is due by itself, so
//! that an answer wakes it. Only what was put off here is here, so that nothing is woken that waits for a retry.

use std::{
    collections::{HashMap, VecDeque},
    mem,
};

use sealpost_domain::{DeliveryId, EnvelopeId, Timestamp, WebhookId, ports::ExpeditedDelivery};

pub(crate) struct Asleep {
    by_target: HashMap<WebhookId, VecDeque<Sleeper>>,
    count: usize,
    max: usize,
}

/// A delivery that nobody holds until it is due.
struct Sleeper {
    envelope_id: EnvelopeId,
    due_at: Timestamp,
}

impl Asleep {
    pub(crate) fn new(max: usize) -> Self {
        Self { by_target: HashMap::new(), count: 0, max }
    }

    /// Remembers a delivery that is due at that time. A target may have half of all places when it is alone, less when
    /// others have some; what finds none comes at its time.
    pub(crate) fn add(&mut self, id: DeliveryId, due_at: Timestamp) {
        let of_target = self.by_target.entry(id.webhook_id).or_default();
        if of_target.len() < self.max.saturating_sub(self.count) {
            of_target.push_back(Sleeper { envelope_id: id.envelope_id, due_at });
            self.count += 1;
        }
    }

    /// Up to `max` of a target's, due now: those first that were given back first.
    pub(crate) fn wake(
        &mut self,
        target: WebhookId,
        max: usize,
        now: Timestamp,
    ) -> Vec<ExpeditedDelivery> {
        let mut woken = Vec::new();
        let Some(of_target) = self.by_target.get_mut(&target) else { return woken };
        while woken.len() < max
            && let Some(mut sleeper) = of_target.pop_front()
        {
            self.count -= 1;
            if sleeper.due_at > now {
                woken.push(sleeper.expedited(target, now));
            }
        }
        woken
    }

    /// The one of a target's that is due first, due at `at` instead; `None` where one is due by then, or none is here.
    pub(crate) fn hasten_one(
        &mut self,
        target: WebhookId,
        at: Timestamp,
        now: Timestamp,
    ) -> Option<ExpeditedDelivery> {
        let asleep = self.by_target.get_mut(&target)?.iter_mut();
        let first = asleep.filter(|it| it.due_at > now).min_by_key(|it| it.due_at)?;
        let is_late = first.due_at > at;
        is_late.then(|| first.expedited(target, at))
    }

    /// Nothing of this target is woken any more.
    pub(crate) fn forget(&mut self, target: WebhookId) {
        let forgotten = self.by_target.remove(&target).map_or(0, |of_target| of_target.len());
        self.count -= forgotten;
    }

    /// Forgets what is due by itself.
    pub(crate) fn tidy(&mut self, now: Timestamp) {
        self.by_target.retain(|_, of_target| {
            of_target.retain(|sleeper| sleeper.due_at > now);
            !of_target.is_empty()
        });
        self.count = self.by_target.values().map(VecDeque::len).sum();
    }
}

impl Sleeper {
    fn expedited(&mut self, webhook_id: WebhookId, to: Timestamp) -> ExpeditedDelivery {
        let from = mem::replace(&mut self.due_at, to);
        ExpeditedDelivery { id: DeliveryId { envelope_id: self.envelope_id, webhook_id }, from, to }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::tests::outbox::{NOW, delivery, webhook_id};

    fn after(seconds: u64) -> Timestamp {
        NOW.plus(Duration::from_secs(seconds))
    }

    fn expedited(envelope: u32, from: Timestamp, to: Timestamp) -> ExpeditedDelivery {
        ExpeditedDelivery { id: delivery(1, envelope).id(), from, to }
    }

    #[test]
    fn only_what_is_not_due_yet_is_woken_and_each_once() {
        let mut asleep = Asleep::new(100);
        for (envelope, seconds) in [(0, 45), (1, 5), (2, 50), (3, 60)] {
            asleep.add(delivery(1, envelope).id(), after(seconds));
        }
        asleep.add(delivery(2, 9).id(), after(45));
        let now = after(5);
        let woken = asleep.wake(webhook_id(1), 2, now);
        assert_eq!(woken, [expedited(0, after(45), now), expedited(2, after(50), now)]);
        assert_eq!(asleep.wake(webhook_id(1), 8, now), [expedited(3, after(60), now)]);
        assert_eq!(asleep.wake(webhook_id(1), 8, now), []);
        assert_eq!(asleep.wake(webhook_id(2), 8, now).len(), 1);
        assert_eq!(asleep.count, 0);
    }

    #[test]
    fn the_probe_is_the_one_that_is_due_first_and_can_be_woken_still() {
        let mut asleep = Asleep::new(100);
        asleep.add(delivery(1, 0).id(), after(50));
        asleep.add(delivery(1, 1).id(), after(45));
        let probe = asleep.hasten_one(webhook_id(1), after(10), NOW);
        assert_eq!(probe, Some(expedited(1, after(45), after(10))));
        assert_eq!(asleep.hasten_one(webhook_id(1), after(10), NOW), None, "it is due by then");
        assert_eq!(asleep.hasten_one(webhook_id(2), after(10), NOW), None);
        let woken = asleep.wake(webhook_id(1), 8, NOW);
        assert_eq!(woken, [expedited(0, after(50), NOW), expedited(1, after(10), NOW)]);
    }

    #[test]
    fn no_target_takes_the_places_of_all_others_and_places_come_free() {
        let mut asleep = Asleep::new(100);
        for envelope in 0..1000 {
            asleep.add(delivery(1, envelope).id(), after(45));
        }
        assert_eq!(asleep.count, 50);
        asleep.add(delivery(2, 0).id(), after(60));
        assert_eq!(asleep.wake(webhook_id(2), 8, NOW).len(), 1);
        asleep.tidy(after(45));
        assert_eq!((asleep.count, asleep.by_target.len()), (0, 0));
        asleep.add(delivery(1, 0).id(), after(60));
        asleep.forget(webhook_id(1));
        assert_eq!((asleep.count, asleep.wake(webhook_id(1), 8, NOW)), (0, vec![]));
    }
}
