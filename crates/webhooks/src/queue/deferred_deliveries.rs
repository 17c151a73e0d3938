//! Tracks deferred deliveries until they are due: deliveries that returned to the database without an attempt, because
//! their target did not respond.
//!
//! When the target responds, its deferred deliveries become due earlier. Otherwise the backlog of a recovered receiver
//! would wait for its due times, which by default are 30 s or more after the deferral. Retries of failed attempts are
//! not tracked, so a response never makes a retry due earlier.
//!
//! Tracks at most [`max`](DeferredDeliveries::new) deliveries, to bound the memory.

use std::{
    collections::{HashMap, VecDeque},
    mem,
};

use sealpost_domain::{DeliveryId, Timestamp, WebhookId, ports::ExpeditedDelivery};

pub(crate) struct DeferredDeliveries {
    by_target: HashMap<WebhookId, VecDeque<DeferredDelivery>>,
    count: usize,
    max: usize,
}

/// A delivery that returned to the database without an attempt and is not due yet.
struct DeferredDelivery {
    id: DeliveryId,
    due_at: Timestamp,
}

impl DeferredDeliveries {
    pub(crate) fn new(max: usize) -> Self {
        Self { by_target: HashMap::new(), count: 0, max }
    }

    /// Tracks a delivery that returned to the database, if its target has fewer tracked deliveries than can still be
    /// added for all targets. So a single target can use only half of the maximum. A delivery that is not tracked keeps
    /// its due time.
    pub(crate) fn add(&mut self, id: DeliveryId, due_at: Timestamp) {
        let of_target = self.by_target.entry(id.webhook_id).or_default();
        if of_target.len() < self.max.saturating_sub(self.count) {
            of_target.push_back(DeferredDelivery { id, due_at });
            self.count += 1;
        }
    }

    /// Makes up to `max` deliveries of a target due now, oldest first, and stops tracking them. Also stops tracking
    /// deliveries among them that are already due. Returns the changes of the due times.
    pub(crate) fn expedite(
        &mut self,
        target: WebhookId,
        max: usize,
        now: Timestamp,
    ) -> Vec<ExpeditedDelivery> {
        let mut expedited = Vec::new();
        let Some(of_target) = self.by_target.get_mut(&target) else { return expedited };
        while expedited.len() < max
            && let Some(mut delivery) = of_target.pop_front()
        {
            self.count -= 1;
            if delivery.due_at > now {
                expedited.push(delivery.move_to(now));
            }
        }
        expedited
    }

    /// Finds the tracked delivery of a target that is due first, and makes it due at `at`. Returns `None` and changes
    /// nothing if it is due before `at` anyway, or if no delivery of the target is tracked.
    pub(crate) fn expedite_first(
        &mut self,
        target: WebhookId,
        at: Timestamp,
        now: Timestamp,
    ) -> Option<ExpeditedDelivery> {
        let deliveries = self.by_target.get_mut(&target)?.iter_mut();
        let first = deliveries
            .filter(|delivery| delivery.due_at > now)
            .min_by_key(|delivery| delivery.due_at)?;
        let is_late = first.due_at > at;
        is_late.then(|| first.move_to(at))
    }

    /// Stops tracking all deliveries of a target.
    pub(crate) fn remove_target(&mut self, target: WebhookId) {
        let removed = self.by_target.remove(&target).map_or(0, |of_target| of_target.len());
        self.count -= removed;
    }

    /// Stops tracking deliveries that are due.
    pub(crate) fn remove_due(&mut self, now: Timestamp) {
        self.by_target.retain(|_, of_target| {
            of_target.retain(|delivery| delivery.due_at > now);
            !of_target.is_empty()
        });
        self.count = self.by_target.values().map(VecDeque::len).sum();
    }
}

impl DeferredDelivery {
    fn move_to(&mut self, to: Timestamp) -> ExpeditedDelivery {
        let from = mem::replace(&mut self.due_at, to);
        ExpeditedDelivery { id: self.id, from, to }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::tests::memory_outbox::{NOW, delivery, webhook_id};

    fn after(seconds: u64) -> Timestamp {
        NOW.plus(Duration::from_secs(seconds))
    }

    fn expedited(envelope: u32, from: Timestamp, to: Timestamp) -> ExpeditedDelivery {
        ExpeditedDelivery { id: delivery(1, envelope).id(), from, to }
    }

    #[test]
    fn only_deliveries_that_are_not_due_are_expedited_and_each_once() {
        let mut deferred = DeferredDeliveries::new(100);
        for (envelope, seconds) in [(0, 45), (1, 5), (2, 50), (3, 60)] {
            deferred.add(delivery(1, envelope).id(), after(seconds));
        }
        deferred.add(delivery(2, 9).id(), after(45));
        let now = after(5);
        let moved = deferred.expedite(webhook_id(1), 2, now);
        assert_eq!(moved, [expedited(0, after(45), now), expedited(2, after(50), now)]);
        assert_eq!(deferred.expedite(webhook_id(1), 8, now), [expedited(3, after(60), now)]);
        assert_eq!(deferred.expedite(webhook_id(1), 8, now), []);
        assert_eq!(deferred.expedite(webhook_id(2), 8, now).len(), 1);
        assert_eq!(deferred.count, 0);
    }

    #[test]
    fn the_probe_is_due_first_and_can_still_be_expedited() {
        let mut deferred = DeferredDeliveries::new(100);
        deferred.add(delivery(1, 0).id(), after(50));
        deferred.add(delivery(1, 1).id(), after(45));
        let probe = deferred.expedite_first(webhook_id(1), after(10), NOW);
        assert_eq!(probe, Some(expedited(1, after(45), after(10))));
        assert_eq!(
            deferred.expedite_first(webhook_id(1), after(10), NOW),
            None,
            "the delivery is due by then"
        );
        assert_eq!(deferred.expedite_first(webhook_id(2), after(10), NOW), None);
        let moved = deferred.expedite(webhook_id(1), 8, NOW);
        assert_eq!(moved, [expedited(0, after(50), NOW), expedited(1, after(10), NOW)]);
    }

    #[test]
    fn no_target_fills_the_memory_and_due_deliveries_free_it() {
        let mut deferred = DeferredDeliveries::new(100);
        for envelope in 0..1000 {
            deferred.add(delivery(1, envelope).id(), after(45));
        }
        assert_eq!(deferred.count, 50);
        deferred.add(delivery(2, 0).id(), after(60));
        assert_eq!(deferred.expedite(webhook_id(2), 8, NOW).len(), 1);
        deferred.remove_due(after(45));
        assert_eq!((deferred.count, deferred.by_target.len()), (0, 0));
        deferred.add(delivery(1, 0).id(), after(60));
        deferred.remove_target(webhook_id(1));
        assert_eq!((deferred.count, deferred.expedite(webhook_id(1), 8, NOW)), (0, vec![]));
    }
}
