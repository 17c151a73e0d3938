//! The state of one target: its queue, its requests in flight and its circuit breaker.

use std::{
    collections::VecDeque,
    time::{Duration, Instant},
};

use sealpost_domain::{AccountId, LeasedDelivery, Timestamp};

use crate::circuit_breaker::{CircuitBreaker, target_health::TargetHealth};

pub(super) struct TargetState {
    pub(super) account_id: AccountId,
    pub(super) queue: VecDeque<LeasedDelivery>,
    pub(super) in_flight: usize,
    /// Whether the target is in the fair queue and waits for its turn.
    pub(super) has_turn: bool,
    pub(super) breaker: CircuitBreaker,
    idle_since: Option<Instant>,
}

impl TargetState {
    pub(super) fn new(account_id: AccountId) -> Self {
        Self {
            account_id,
            queue: VecDeque::new(),
            in_flight: 0,
            has_turn: false,
            breaker: CircuitBreaker::default(),
            idle_since: None,
        }
    }

    /// Whether the target may start another request. `free_slots` is the number of requests that the worker may still
    /// start.
    ///
    /// - always, if the target has no request in flight
    /// - never, if an untried or unresponsive target has a request in flight
    /// - otherwise, if its requests in flight are fewer than `per_target_max` and fewer than half of the free slots
    ///
    /// The last rule keeps some slots free if many targets begin to hang at once.
    pub(super) fn may_start(&self, free_slots: usize, per_target_max: usize) -> bool {
        match (self.in_flight, self.breaker.health()) {
            (0, _) => true,
            (_, TargetHealth::Untried | TargetHealth::Unresponsive) => false,
            (in_flight, TargetHealth::Responsive | TargetHealth::Slow) => {
                in_flight < per_target_max && in_flight * 2 < free_slots
            }
        }
    }

    pub(super) fn queue_max(&self, now: Timestamp, per_target_max: usize) -> usize {
        self.breaker.queue_max(now, self.in_flight, per_target_max)
    }

    pub(super) fn is_idle(&self) -> bool {
        self.in_flight == 0 && self.queue.is_empty()
    }

    pub(super) fn enqueue(&mut self, delivery: LeasedDelivery) {
        self.queue.push_back(delivery);
        self.idle_since = None;
    }

    /// Returns for how long the target has been idle, or zero if it is busy. The time is counted from the first call
    /// that found the target idle.
    pub(super) fn idle_time(&mut self, now: Instant) -> Duration {
        let since = self.is_idle().then(|| *self.idle_since.get_or_insert(now));
        since.map_or(Duration::ZERO, |since| now.duration_since(since))
    }

    /// Removes and returns the first delivery if its lease ends before `needed`. Checks only the first delivery,
    /// because the queue is nearly in the order in which the leases end.
    pub(super) fn pop_expired(&mut self, needed: Timestamp) -> Option<LeasedDelivery> {
        self.queue.pop_front_if(|first| first.lease_until < needed)
    }
}
