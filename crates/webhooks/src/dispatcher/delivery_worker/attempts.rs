//! Starts delivery attempts and signs their requests. Takes the decrypted signing keys and open connections of a target
//! from a cache, or else decrypts the keys and opens new connections.

use std::{rc::Rc, time::Instant};

use sealpost_domain::{LeasedDelivery, Timestamp, with_causes};

use super::{DeliveryWorker, RunningAttempt, attempt_span::AttemptSpan};
use crate::{
    circuit_breaker::deferral::Deferral,
    dispatcher::shared_state::SharedState,
    http::target_sender::TargetSender,
    queue::fair_queue::Slot,
    signing::signed_request::{SignedRequest, event_id},
};

impl DeliveryWorker {
    /// Starts an attempt. If that fails, returns the delivery to the database. The delivery is due again:
    ///
    /// - now, if the event has expired, or if the lease could end before the outcome is recorded
    /// - at the end of the lease, if the signing secret cannot be decrypted, or if the request cannot be built
    pub(super) fn start_attempt(&mut self, delivery: LeasedDelivery, slot: Slot) {
        let SharedState { settings, clock, .. } = &*self.context.shared;
        let now = clock.now();
        let is_expired = delivery.event.id().timestamp() < now.minus(settings.retention);
        if is_expired || delivery.lease_until.since(now) < settings.lease_min() {
            return self.give_back(delivery, &slot, Deferral::until(now));
        }
        let Some((sender, request)) = self.prepare(&delivery, now) else {
            let due_at = delivery.lease_until;
            return self.give_back(delivery, &slot, Deferral::until(due_at));
        };
        let span = AttemptSpan::begin(request.trace);
        let attempt = self.attempts.spawn_local(async move {
            let start = Instant::now();
            (sender.send(request).await, start.elapsed())
        });
        self.in_flight
            .insert(attempt.id(), RunningAttempt { delivery, slot, signed_at: now, span });
    }

    fn prepare(
        &mut self,
        delivery: &LeasedDelivery,
        now: Timestamp,
    ) -> Option<(Rc<TargetSender>, SignedRequest)> {
        let sender = self.sender_for(delivery)?;
        let events = self.context.shared.settings.events;
        let request = SignedRequest::build(delivery, events, &sender.keys, now);
        let request = request.inspect_err(|error| {
            tracing::error!(
                error = with_causes(error),
                event.id = event_id(delivery),
                "cannot build a webhook request"
            );
        });
        Some((sender, request.ok()?))
    }

    fn sender_for(&mut self, delivery: &LeasedDelivery) -> Option<Rc<TargetSender>> {
        let (target, id) = (&delivery.target, delivery.target.webhook_id);
        if let Some(sender) = self.senders.get(id)
            && sender.matches(target)
        {
            return Some(Rc::clone(sender));
        }
        let SharedState { keyring, signer, .. } = &*self.context.shared;
        match TargetSender::open(target, keyring, &self.clients, signer.as_ref()) {
            Ok(sender) => {
                let sender = Rc::new(sender);
                self.senders.insert(id, Rc::clone(&sender));
                Some(sender)
            }
            Err(error) => {
                tracing::error!(
                    error = with_causes(&error),
                    webhook.id = %id,
                    "cannot decrypt the signing secret of a webhook; its deliveries wait"
                );
                None
            }
        }
    }
}
