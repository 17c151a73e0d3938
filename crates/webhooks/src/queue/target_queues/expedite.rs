//! Makes deferred deliveries (those that returned to the database without an attempt) due earlier: after a response
//! from their target, after a connection of their relay has begun or ended, or as the next probe.

use std::mem;

use sealpost_domain::{DeliveryId, LeasedDelivery, Timestamp, WebhookId, ports::ExpeditedDelivery};

use super::TargetQueues;
use crate::{
    circuit_breaker::{BreakerTransition, deferral::Deferral},
    queue::release_batch::RELEASE_BATCH_MAX,
};

impl TargetQueues {
    /// Records that a delivery has returned to the database and is due at `due_at`. The delivery is tracked until then,
    /// so that a response of the target can make it due earlier.
    pub(crate) fn record_released(&mut self, id: DeliveryId, due_at: Timestamp, now: Timestamp) {
        if due_at > now {
            self.deferred.add(id, due_at);
        }
    }

    /// For each idle target with an open breaker, schedules one deferred delivery as the next probe.
    pub(crate) fn schedule_probes(&mut self, now: Timestamp) {
        self.deferred.remove_due(now);
        for (id, state) in self.by_id.iter_mut().filter(|(_, state)| state.is_idle()) {
            if let Some(at) = state.breaker.probe_needed_at(now)
                && let Some(probe) = self.deferred.expedite_first(*id, at, now)
            {
                state.breaker.mark_probe_scheduled();
                self.expedited.push(probe);
            }
        }
    }

    pub(crate) fn take_expedited(&mut self) -> Vec<ExpeditedDelivery> {
        mem::take(&mut self.expedited)
    }

    /// Makes up to `in_flight_per_target` deferred deliveries of a target due now, because the target has responded.
    /// The next responses do the same for further deliveries, so an unstable target causes little work in the database.
    ///
    /// A response that closes the breaker makes up to [`RELEASE_BATCH_MAX`] deliveries due. This node then has enough
    /// deliveries for the target, even if other nodes claim a part of them.
    pub(super) fn expedite_deferred(
        &mut self,
        id: WebhookId,
        transition: Option<BreakerTransition>,
        now: Timestamp,
    ) {
        let is_closed = transition == Some(BreakerTransition::Closed);
        let max = if is_closed { RELEASE_BATCH_MAX } else { self.in_flight_per_target };
        self.expedite_up_to(max, id, now);
    }

    /// Makes up to `max` deferred deliveries of a target due now.
    pub(super) fn expedite_up_to(&mut self, max: usize, id: WebhookId, now: Timestamp) {
        let is_deferred = |(delivery, deferral): &mut (LeasedDelivery, Deferral)| {
            delivery.target.webhook_id == id && deferral.from > now
        };
        // Deliveries that were about to return to the database stay in memory and are queued again.
        let unreleased = self.to_release.extract_if(.., is_deferred).take(max);
        let unreleased: Vec<_> = unreleased.map(|(delivery, _)| delivery).collect();
        self.expedited.extend(self.deferred.expedite(id, max - unreleased.len(), now));
        if let Some(state) = self.by_id.get_mut(&id) {
            self.accounts.add(state.account_id, unreleased.len());
            for delivery in unreleased {
                state.enqueue(delivery);
            }
        }
    }
}
