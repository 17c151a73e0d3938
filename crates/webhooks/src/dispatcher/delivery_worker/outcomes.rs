//! Processes finished attempts: updates the health of the target, decides the outcome (success, retry or no further
//! attempt), and passes the outcome to the thread that writes to the database.

use std::{
    sync::{Arc, mpsc},
    time::Duration,
};

use sealpost_domain::{
    AttemptFailure, AttemptResult, LeasedDelivery, Outcome, Timestamp, WebhookId,
    ports::Relays as _, with_causes,
};
use tokio::task::{Id, JoinError};

use super::{DeliveryWorker, FinishedAttempt, RunningAttempt};
use crate::{
    circuit_breaker::{BreakerTransition, HealthSign, deferral::Deferral},
    dispatcher::outcome_writer::OutcomeMessage,
    local_error::{LocalError, Unsent},
    queue::{
        fair_queue::Slot,
        release_batch::{ReleaseBatch, batch_releases},
    },
    retry::{self, attempt_report::AttemptReport},
    signing::signed_request::event_id,
};

impl DeliveryWorker {
    pub(super) fn finish(&mut self, finished: Result<(Id, FinishedAttempt), JoinError>) {
        let (id, (report, duration)) = finished.unwrap_or_else(|join_error| {
            tracing::error!(
                error = with_causes(&join_error),
                "an attempt panicked; counted as a failed attempt"
            );
            (join_error.id(), (Ok(AttemptReport::failed(AttemptFailure::Protocol)), Duration::ZERO))
        });
        let Some(attempt) = self.in_flight.remove(&id) else { return };
        let (now, target) = (self.context.shared.clock.now(), attempt.delivery.target.webhook_id);
        let report = match report {
            Ok(report) => report,
            Err(Unsent::Local(fault)) => return self.postpone(attempt, fault, now),
            Err(Unsent::NotConnected) => return self.retry_relay(attempt, now),
        };
        let sign = if report.has_response() {
            HealthSign::Response(duration)
        } else {
            HealthSign::NoResponse
        };
        if let Some(transition) = self.targets.finish(target, &attempt.slot, sign, now) {
            log_transition(target, transition);
        }
        self.senders.mark_used(target);
        let result = self.decide(&attempt, report, duration);
        if result.outcome == Outcome::Gone {
            tracing::info!(
                webhook.id = %target,
                "the receiver responded 410; its webhook is disabled, unless its URL has changed"
            );
            self.targets.withdraw(target, now);
        }
        self.send(OutcomeMessage::Record(result));
        self.expedite();
    }

    /// Returns a delivery to the database after a fault of this node. Does not count the attempt, and leaves the health
    /// of the target as it is.
    fn postpone(&mut self, attempt: RunningAttempt, fault: LocalError, now: Timestamp) {
        let RunningAttempt { delivery, slot, .. } = attempt;
        let pause = self.context.shared.settings.schedule.scaled(LOCAL_FAULT_PAUSE);
        self.give_back(delivery, &slot, Deferral { from: now.plus(pause), spread: pause });
        let logged_at = self.local_fault_logged_at;
        if logged_at.is_none_or(|logged_at| now.since(logged_at) >= LOCAL_FAULT_LOG_PERIOD) {
            self.local_fault_logged_at = Some(now);
            tracing::error!(
                error = %fault,
                "webhook requests cannot be sent; their deliveries wait, and no attempt is counted: raise the limit of \
                 open files, or free memory or ports"
            );
        }
    }

    /// Returns a delivery to the database, without counting an attempt.
    pub(super) fn give_back(&mut self, delivery: LeasedDelivery, slot: &Slot, deferral: Deferral) {
        let (target, now) = (delivery.target.webhook_id, self.context.shared.clock.now());
        self.targets.finish(target, slot, HealthSign::NotAttempted, now);
        self.senders.mark_used(target);
        self.targets.release(delivery, deferral);
    }

    /// Queues a delivery to a [relay](crate::relay) again, because the connection to the relay has ended. Does not
    /// count the attempt. If the relay has no other connection to this node, returns all deliveries to the relay to the
    /// database.
    fn retry_relay(&mut self, attempt: RunningAttempt, now: Timestamp) {
        let RunningAttempt { delivery, slot, .. } = attempt;
        let target = delivery.target.webhook_id;
        self.targets.finish(target, &slot, HealthSign::NotAttempted, now);
        if self.context.shared.relays.is_connected(&target) {
            self.targets.push(delivery, self.context.shared.capacity.free(), now);
        } else {
            self.await_relay(delivery);
        }
    }

    /// Schedules the return of a delivery to the database, because its [relay](crate::relay) has no connection to this
    /// node. Does the same with all queued deliveries to this relay.
    pub(super) fn await_relay(&mut self, delivery: LeasedDelivery) {
        let queued = self.targets.take_queued(delivery.target.webhook_id);
        let all = std::iter::once(delivery).chain(queued);
        self.awaiting_relay.extend(all.map(|delivery| (delivery.id(), delivery.lease)));
    }

    pub(super) fn release_to_relays(&mut self) {
        if !self.awaiting_relay.is_empty() {
            let held = std::mem::take(&mut self.awaiting_relay);
            let due_at = self.context.shared.clock.now();
            self.send(OutcomeMessage::AwaitRelay(ReleaseBatch { held, due_at }));
        }
    }

    /// Decides the outcome of an ended attempt. Records the signed time plus the duration as the end of the attempt.
    /// From the end and the duration, the log of attempts computes the signed time, to show the signature to the owner
    /// again.
    fn decide(
        &self,
        RunningAttempt { delivery, signed_at, span, .. }: &RunningAttempt,
        report: AttemptReport,
        duration: Duration,
    ) -> AttemptResult {
        let now = self.context.shared.clock.now();
        let attempts = delivery.attempts.saturating_add(1);
        let schedule = &self.context.shared.settings.schedule;
        let outcome = retry::outcome::decide(schedule, attempts, &report, now, jitter);
        self.context.shared.counters.count_attempt(outcome);
        tracing::debug!(
            event.id = event_id(delivery),
            webhook.id = %delivery.target.webhook_id,
            delivery.attempt = attempts,
            delivery.outcome = ?outcome,
            "an attempt ended"
        );
        let (id, lease) = (delivery.id(), delivery.lease);
        let AttemptReport { response, error_detail, .. } = report;
        let status = response.as_ref().map(|response| response.status);
        if let Some(span) = span {
            span.end(delivery, status, outcome, duration);
        }
        let duration_ms = u32::try_from(duration.as_millis()).unwrap_or(u32::MAX);
        let at = signed_at.plus(Duration::from_millis(duration_ms.into()));
        let target = Arc::clone(&delivery.target);
        AttemptResult {
            id,
            target,
            lease,
            attempts,
            at,
            duration_ms,
            response,
            error_detail,
            outcome,
        }
    }

    /// Ends the leases of all deferred deliveries, in batches, so that they return to the database without an attempt.
    /// Passes each batch to the thread that writes to the database.
    pub(super) fn release_deferred(&mut self) {
        let (deferred, now) = (self.targets.take_to_release(), self.context.shared.clock.now());
        self.context.shared.counters.count_deferred(deferred.len());
        let window = self.context.shared.settings.schedule.scaled(RELEASE_WINDOW);
        for batch in batch_releases(deferred, window, jitter) {
            for (id, _) in &batch.held {
                self.targets.record_released(*id, batch.due_at, now);
            }
            self.send(OutcomeMessage::Release(batch));
        }
    }

    pub(super) fn expedite(&mut self) {
        let expedited = self.targets.take_expedited();
        if !expedited.is_empty() {
            self.send(OutcomeMessage::Expedite(expedited));
        }
    }

    fn send(&self, message: OutcomeMessage) {
        if let Err(mpsc::SendError(message)) = self.context.outcomes.send(message) {
            self.context.shared.capacity.release(message.deliveries());
        }
    }
}

/// Minimum time until a delivery is due again after a fault of this node. A random time of at most the same length is
/// added. A retry schedule with a short first pause [shortens](crate::RetrySchedule::scaled) both times.
const LOCAL_FAULT_PAUSE: Duration = Duration::from_secs(5);
/// Maximum difference between the due times of deliveries that one SQL statement returns to the database. A retry
/// schedule with a short first pause [shortens](crate::RetrySchedule::scaled) it.
const RELEASE_WINDOW: Duration = Duration::from_secs(5);
/// Minimum time between two lines in the log about faults of this node.
const LOCAL_FAULT_LOG_PERIOD: Duration = Duration::from_mins(1);

/// Logs the opening and the closing of a circuit breaker. Failed probes are not logged, because an outage may last for
/// days.
fn log_transition(target: WebhookId, transition: BreakerTransition) {
    match transition {
        BreakerTransition::Closed => {
            tracing::info!(webhook.id = %target, "the receiver responds again");
        }
        BreakerTransition::Opened => {
            tracing::warn!(
                webhook.id = %target,
                "the receiver does not respond; deferring its deliveries and sending probes"
            );
        }
    }
}

/// Returns a random number for the jitter of due times. If the random source fails, returns zero: due times without
/// jitter are still correct.
fn jitter() -> u32 {
    sealpost_wallet::random().map_or(0, u32::from_ne_bytes)
}
