//! Keeps a separate queue for each target of a delivery worker, so that a hanging target, or a target with a long
//! queue, delays no other target.

mod account_queues;
mod expedite;
mod host_slots;
mod target_state;

use std::{
    collections::{HashMap, HashSet, VecDeque},
    mem,
    sync::Arc,
    time::{Duration, Instant},
};

use sealpost_domain::{LeasedDelivery, Target, Timestamp, WebhookId, ports::ExpeditedDelivery};

use self::{
    account_queues::AccountQueues,
    host_slots::{HostSlots, host_of},
    target_state::TargetState,
};
use super::{
    deferred_deliveries::DeferredDeliveries,
    fair_queue::{FairQueue, Slot},
    host_rates::HostRates,
    release_batch::RELEASE_BATCH_MAX,
};
use crate::{
    circuit_breaker::{
        BreakerSettings, BreakerTransition, CircuitBreaker, HealthSign, TargetHealth,
        deferral::Deferral,
    },
    settings::{KEEP_ALIVE, Settings},
};

pub(crate) struct TargetQueues {
    by_id: HashMap<WebhookId, TargetState>,
    turns: FairQueue,
    hosts: HostSlots,
    /// Deliveries to be returned to the database without an attempt, each with the range of its next due time.
    to_release: Vec<(LeasedDelivery, Deferral)>,
    /// Deliveries that have returned to the database without an attempt and are not due yet.
    deferred: DeferredDeliveries,
    /// Deliveries in the database that must get an earlier due time.
    expedited: Vec<ExpeditedDelivery>,
    accounts: AccountQueues,
    in_flight_per_target: usize,
    breaker_settings: BreakerSettings,
    /// Time for which the state of an idle target is kept in memory.
    known_for: Duration,
}

/// Totals over all targets of a delivery worker, for the statistics.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct QueueCounts {
    pub(crate) queued: usize,
    pub(crate) open_breakers: usize,
}

impl TargetQueues {
    pub(crate) fn new(settings: &Settings, rates: Arc<HostRates>) -> Self {
        let breaker_settings = BreakerSettings::new(settings);
        // Keeps the state of idle targets for longer than the pause between probes, so that the state of an open
        // circuit breaker is not lost before the next probe.
        let pause_max = breaker_settings.probe_pause_max.saturating_mul(2);
        Self {
            by_id: HashMap::new(),
            turns: FairQueue::new(settings),
            hosts: HostSlots::new(settings, rates),
            to_release: Vec::new(),
            deferred: DeferredDeliveries::new(settings.queue_max / settings.workers()),
            expedited: Vec::new(),
            accounts: AccountQueues::new(settings),
            in_flight_per_target: settings.in_flight_per_target.max(1),
            breaker_settings,
            known_for: KNOWN_FOR_MIN.max(pause_max),
        }
    }

    /// Queues a delivery in memory, or returns the delivery to the database in two cases:
    ///
    /// - The queue of an unresponsive target is full: the delivery is deferred to a later due time.
    /// - The account has used up its part of the `free` capacity: the delivery is due at once. Returns `false` only in
    ///   this case.
    pub(crate) fn push(&mut self, delivery: LeasedDelivery, free: usize, now: Timestamp) -> bool {
        let (id, account_id) = (delivery.target.webhook_id, delivery.target.account_id);
        let state = self.by_id.entry(id).or_insert_with(|| TargetState::new(&delivery));
        state.set_target(&delivery.target, delivery.target_read_at, now);
        let is_full = state.queue.len() >= state.queue_max(now, self.in_flight_per_target);
        // A delivery that the owner of the webhook requested since the last failure is the next probe instead.
        if is_full && !state.may_probe(&delivery) {
            let deferral = state.breaker.defer(now, &self.breaker_settings);
            self.to_release.push((delivery, deferral));
            return true;
        }
        let has_place = self.accounts.has_place(account_id, free);
        if has_place {
            state.enqueue(delivery);
            self.accounts.add(account_id, 1);
        } else {
            self.to_release.push((delivery, Deferral::until(now)));
        }
        self.accounts.mark_if_full(account_id, id, free);
        self.give_turn(id);
        has_place
    }

    /// Schedules the return of a delivery to the database, without counting an attempt.
    pub(crate) fn release(&mut self, delivery: LeasedDelivery, deferral: Deferral) {
        self.to_release.push((delivery, deferral));
    }

    /// Returns all full targets, or `None` if the set of full targets has not changed since the last call. A target is
    /// full if its account has so many deliveries in memory that those of another
    /// [claim](sealpost_domain::ports::Claim) would not fit.
    pub(crate) fn changed_full_targets(&mut self, free: usize) -> Option<HashSet<WebhookId>> {
        self.accounts.changed_full_targets(free)
    }

    /// Returns the next delivery to attempt, and the slot that counts its request against the concurrency limits.
    /// Returns `None` if no request may start now.
    pub(crate) fn next_delivery(&mut self, now: Timestamp) -> Option<(LeasedDelivery, Slot)> {
        while let Some(id) = self.turns.pop() {
            let free_slots = self.turns.free_slots();
            let Some(state) = self.by_id.get_mut(&id) else { continue };
            // A target that was read too long ago gets its turn back after the next read: see `refresh`.
            state.has_turn =
                state.is_fresh(now) && state.may_start(free_slots, self.in_flight_per_target);
            if state.has_turn
                && let Some(delivery) = state.next()
            {
                let (account_id, health) = (state.account_id, state.breaker.health());
                let Some(mut slot) = self.turns.acquire(id, account_id, health) else {
                    state.queue.push_front(delivery);
                    continue;
                };
                let host = host_of(&delivery.target);
                if !self.hosts.acquire(&host, id, now) {
                    state.queue.push_front(delivery);
                    self.turns.release(&slot);
                    continue;
                }
                slot.host = host.into_owned();
                state.has_turn = false;
                state.in_flight += 1;
                self.accounts.remove(account_id, 1);
                self.give_turn(id);
                return Some((delivery, slot));
            }
            state.has_turn = false;
        }
        None
    }

    /// Records the end of a request. Returns the change of the circuit breaker's state; `None` without a change. If the
    /// target responded, its deferred deliveries (returned to the database without an attempt) become due earlier.
    pub(crate) fn finish(
        &mut self,
        id: WebhookId,
        slot: &Slot,
        sign: HealthSign,
        now: Timestamp,
    ) -> Option<BreakerTransition> {
        self.turns.release(slot);
        let waiting = self.hosts.release(&slot.host);
        self.return_turns(waiting);
        let state = self.by_id.get_mut(&id)?;
        state.in_flight = state.in_flight.saturating_sub(1);
        let transition = match sign {
            HealthSign::NoResponse => state.breaker.record_failure(now, &self.breaker_settings),
            HealthSign::NotAttempted => None,
            HealthSign::Response(duration) => state.breaker.record_response(duration),
        };
        let kept = state.queue_max(now, self.in_flight_per_target).min(state.queue.len());
        let removed = state.queue.split_off(kept);
        self.accounts.remove(state.account_id, removed.len());
        for delivery in removed {
            let deferral = state.breaker.defer(now, &self.breaker_settings);
            self.to_release.push((delivery, deferral));
        }
        if matches!(sign, HealthSign::Response(_)) {
            self.expedite_deferred(id, transition, now);
        }
        self.give_turn(id);
        transition
    }

    /// Lets waiting targets try again. A target waits while its host has reached its limit of requests in flight or per
    /// minute. Called once a second, because nothing signals the end of a minute.
    pub(crate) fn retry_hosts(&mut self) {
        let waiting = self.hosts.take_waiting();
        self.return_turns(waiting);
    }

    /// Replaces a target that was read again, and lets it send requests. The read began at `read_at`.
    pub(crate) fn refresh(&mut self, target: &Arc<Target>, read_at: Timestamp, now: Timestamp) {
        let id = target.webhook_id;
        if let Some(state) = self.by_id.get_mut(&id) {
            state.set_target(target, read_at, now);
            self.give_turn(id);
        }
    }

    /// Removes all queued deliveries of a deleted, disabled or paused webhook, to return them to the database. Stops
    /// tracking its deferred deliveries, so that a response no longer makes them due earlier.
    pub(crate) fn withdraw(&mut self, id: WebhookId, now: Timestamp) {
        self.deferred.remove_target(id);
        let Some(state) = self.by_id.get_mut(&id) else { return };
        let (queue, deferral) = (mem::take(&mut state.queue), Deferral::until(now));
        self.accounts.remove(state.account_id, queue.len());
        self.to_release.extend(queue.into_iter().map(|delivery| (delivery, deferral)));
    }

    /// Removes and returns all queued deliveries of a relay that is not connected to this node.
    pub(crate) fn take_queued(&mut self, id: WebhookId) -> VecDeque<LeasedDelivery> {
        let Some(state) = self.by_id.get_mut(&id) else { return VecDeque::new() };
        let queue = mem::take(&mut state.queue);
        self.accounts.remove(state.account_id, queue.len());
        queue
    }

    /// Resets the health and the circuit breakers of unresponsive relays, because their receivers have connected again.
    /// Their deferred deliveries become due now. All other relays keep their health.
    pub(crate) fn reconnect(&mut self, relays: &[WebhookId], now: Timestamp) {
        for id in relays {
            self.reset_unresponsive(*id, RELEASE_BATCH_MAX, now);
        }
    }

    /// Resets the health and the circuit breakers of unresponsive relays whose last connection to this node has ended.
    /// All their deferred deliveries become due now, and then wait in the database for a connection. The receiver may
    /// connect to another node, which does not know that these deliveries are deferred.
    pub(crate) fn disconnect(&mut self, relays: &[WebhookId], now: Timestamp) {
        for id in relays {
            self.reset_unresponsive(*id, usize::MAX, now);
        }
    }

    fn reset_unresponsive(&mut self, id: WebhookId, expedite_max: usize, now: Timestamp) {
        if let Some(state) = self.by_id.get_mut(&id)
            && state.breaker.health() == TargetHealth::Unresponsive
        {
            state.breaker = CircuitBreaker::default();
            self.expedite_up_to(expedite_max, id, now);
            self.give_turn(id);
        }
    }

    /// Returns the ids of the webhooks with queued deliveries whose target must be read again.
    pub(crate) fn targets_to_refresh(&self, now: Timestamp) -> impl Iterator<Item = WebhookId> {
        self.by_id.iter().filter(move |(_, state)| state.needs_refresh(now)).map(|(id, _)| *id)
    }

    /// Returns the number of deliveries that have left their queue and must be returned to the database.
    pub(crate) fn to_release(&self) -> usize {
        self.to_release.len()
    }

    pub(crate) fn take_to_release(&mut self) -> Vec<(LeasedDelivery, Deferral)> {
        mem::take(&mut self.to_release)
    }

    /// Removes queued deliveries whose leases end before `needed`, and returns them to the database, due at `due_at`.
    /// Also removes targets that have been idle for a long time.
    pub(crate) fn remove_expired(&mut self, needed: Timestamp, due_at: Timestamp) {
        let (to_release, accounts, now) =
            (&mut self.to_release, &mut self.accounts, Instant::now());
        let is_full = self.by_id.len() > KNOWN_TARGETS_MAX;
        let idle_max = if is_full { KEEP_ALIVE } else { self.known_for };
        self.by_id.retain(|_, state| {
            while let Some(expired) = state.pop_expired(needed) {
                to_release.push((expired, Deferral::until(due_at)));
                accounts.remove(state.account_id, 1);
            }
            let idle_time = state.idle_time(now);
            if idle_time >= KEEP_ALIVE {
                state.queue.shrink_to_fit();
            }
            idle_time < idle_max
        });
    }

    /// Counts queued deliveries and open breakers. Visits all targets, which is too slow for the hot path.
    pub(crate) fn counts(&self) -> QueueCounts {
        let queued = self.by_id.values().map(|state| state.queue.len()).sum();
        let open_breakers = self.by_id.values().filter(|state| state.breaker.is_open()).count();
        QueueCounts { queued, open_breakers }
    }

    pub(crate) fn into_queued(self) -> impl Iterator<Item = LeasedDelivery> {
        self.by_id.into_values().flat_map(|state| state.queue)
    }

    fn return_turns(&mut self, targets: impl IntoIterator<Item = WebhookId>) {
        for id in targets {
            if let Some(state) = self.by_id.get(&id) {
                self.turns.push(id, state.account_id, state.breaker.health());
            }
        }
    }

    fn give_turn(&mut self, id: WebhookId) {
        let free_slots = self.turns.free_slots();
        let Some(state) = self.by_id.get_mut(&id) else { return };
        let needs_turn = !state.has_turn && !state.queue.is_empty();
        if needs_turn && state.may_start(free_slots, self.in_flight_per_target) {
            state.has_turn = true;
            self.turns.push(id, state.account_id, state.breaker.health());
        }
    }
}

/// Number of targets above which the state of an idle target is kept only for [`KEEP_ALIVE`].
const KNOWN_TARGETS_MAX: usize = 10_000;
const KNOWN_FOR_MIN: Duration = Duration::from_mins(10);

#[cfg(test)]
mod tests;
