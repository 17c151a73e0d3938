//! How an attempt ends: what it says about its target, what it leads to, and what is written down of it.

use std::{error::Error, sync::mpsc, time::Duration};

use sealpost_domain::{AttemptFailure, AttemptResult, LeasedDelivery, Outcome, WebhookId};
use tokio::task::{Id, JoinError};

use super::{Attempt, Lane};
use crate::{answer::Attempted, postponed, pulse::Change, retry, settler::Writing, targets::Heard};

impl Lane {
    pub(super) fn finish(&mut self, ended: Result<(Id, Attempt), JoinError>) {
        let (id, (attempted, took)) = ended.unwrap_or_else(|fault| {
            let error: &(dyn Error + 'static) = &fault;
            tracing::error!(error, "an attempt broke off");
            (fault.id(), (Attempted::failed(AttemptFailure::Protocol), Duration::ZERO))
        });
        let Some((delivery, place)) = self.under_way.remove(&id) else { return };
        let (now, target) = (self.context.clock.now(), delivery.target.webhook_id);
        let heard = if attempted.is_answered() { Heard::Answer } else { Heard::Nothing };
        if let Some(change) = self.targets.finished(target, &place, heard, now) {
            tell(target, change);
        }
        let settlement = self.judge(&delivery, attempted, took);
        if settlement.outcome == Outcome::Gone {
            tracing::info!(webhook.id = %target, "a receiver is gone and gets nothing more");
            self.targets.withdraw(target, now);
        }
        self.write(Writing::Settle(settlement));
        self.expedite();
    }

    fn judge(
        &self,
        delivery: &LeasedDelivery,
        attempted: Attempted,
        took: Duration,
    ) -> AttemptResult {
        let at = self.context.clock.now();
        let attempts = delivery.attempts.saturating_add(1);
        let schedule = &self.context.settings.schedule;
        let outcome = retry::outcome(schedule, attempts, &attempted, at, jitter);
        self.context.shared.counters.attempted(outcome);
        tracing::debug!(
            envelope.id = %delivery.meta.id,
            webhook.id = %delivery.target.webhook_id,
            delivery.attempt = attempts,
            delivery.outcome = ?outcome,
            "attempted"
        );
        let (id, lease, response) = (delivery.id(), delivery.lease, attempted.answer);
        let duration_ms = u32::try_from(took.as_millis()).unwrap_or(u32::MAX);
        AttemptResult { id, lease, attempts, at, duration_ms, response, outcome }
    }

    /// Gives back to the database what is not to be sent for now.
    pub(super) fn postpone(&mut self) {
        let (postponed, now) = (self.targets.take_postponed(), self.context.clock.now());
        self.context.shared.counters.postponed(postponed.len());
        let grain = self.context.settings.schedule.scaled(POSTPONED_GRAIN);
        for release in postponed::gather(postponed, grain, jitter) {
            for (id, _) in &release.held {
                self.targets.gave_back(*id, release.due_at, now);
            }
            self.write(Writing::Release(release));
        }
    }

    /// Tells the database what is due sooner than it was told.
    pub(super) fn expedite(&mut self) {
        let expedited = self.targets.take_hastened();
        if !expedited.is_empty() {
            self.write(Writing::Hasten(expedited));
        }
    }

    fn write(&self, writing: Writing) {
        if let Err(mpsc::SendError(writing)) = self.context.writings.send(writing) {
            self.context.shared.room.give_back(writing.deliveries());
        }
    }
}

/// Once for each time, since a receiver may be away for days.
fn tell(target: WebhookId, change: Change) {
    match change {
        Change::Closed => tracing::info!(webhook.id = %target, "a receiver answers again"),
        Change::Opened => {
            tracing::warn!(webhook.id = %target, "a receiver does not answer; its notices wait");
        }
    }
}

/// A retry without jitter is still right, so a failing random source is no reason to stop.
fn jitter() -> u32 {
    sealpost_wallet::random().map_or(0, u32::from_ne_bytes)
}

/// How far apart deliveries may be due that are given back together, where the schedule is the contract's.
const POSTPONED_GRAIN: Duration = Duration::from_secs(5);
