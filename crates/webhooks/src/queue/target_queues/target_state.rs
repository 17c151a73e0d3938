//! The state of one target: its URL and secrets, its queue, its requests in flight and its circuit breaker.
//!
//! The owner of a webhook can change or pause it at any time, on any node. An attempt therefore starts only with a
//! target that was read less than [`TARGET_AGE_MAX`] ago. A new delivery contains a target that was just read. The
//! targets of queued deliveries are read again.

use std::{
    collections::VecDeque,
    sync::Arc,
    time::{Duration, Instant},
};

use sealpost_domain::{AccountId, LeasedDelivery, Target, Timestamp};

use crate::circuit_breaker::{CircuitBreaker, TargetHealth};

pub(super) struct TargetState {
    pub(super) account_id: AccountId,
    target: Arc<Target>,
    /// A time at or before the read of `target` from the database. A change of the webhook that was committed before
    /// this time is in `target`.
    target_read_at: Timestamp,
    pub(super) queue: VecDeque<LeasedDelivery>,
    pub(super) in_flight: usize,
    /// Whether the target is in the fair queue and waits for its turn.
    pub(super) has_turn: bool,
    pub(super) breaker: CircuitBreaker,
    idle_since: Option<Instant>,
}

impl TargetState {
    pub(super) fn new(first: &LeasedDelivery) -> Self {
        Self {
            account_id: first.target.account_id,
            target: Arc::clone(&first.target),
            target_read_at: first.target_read_at,
            queue: VecDeque::new(),
            in_flight: 0,
            has_turn: false,
            breaker: CircuitBreaker::default(),
            idle_since: None,
        }
    }

    /// Replaces the target, unless the present target was read later. If the URL has changed, starts with a new circuit
    /// breaker, because the receiver is another one.
    pub(super) fn set_target(&mut self, target: &Arc<Target>, read_at: Timestamp, now: Timestamp) {
        // If the present target was read in the future, the clock was set back after that read.
        if read_at < self.target_read_at && self.target_read_at <= now {
            return;
        }
        self.target_read_at = read_at;
        if !Arc::ptr_eq(&self.target, target) {
            if self.target.url != target.url {
                self.breaker = CircuitBreaker::default();
            }
            self.target = Arc::clone(target);
        }
    }

    /// Returns true if the target was read so recently that an attempt may start.
    pub(super) fn is_fresh(&self, now: Timestamp) -> bool {
        self.target_read_at <= now && now.since(self.target_read_at) < TARGET_AGE_MAX
    }

    /// Returns true if deliveries are queued, and the target must be read again soon.
    pub(super) fn needs_refresh(&self, now: Timestamp) -> bool {
        let is_recent = self.target_read_at <= now && now.since(self.target_read_at) < REFRESH_AGE;
        !self.queue.is_empty() && !is_recent
    }

    /// Removes and returns the first delivery, with the present target.
    pub(super) fn next(&mut self) -> Option<LeasedDelivery> {
        let delivery = self.queue.pop_front()?;
        Some(LeasedDelivery {
            target: Arc::clone(&self.target),
            target_read_at: self.target_read_at,
            ..delivery
        })
    }

    /// Returns whether the target may start another request. `free_slots` is the number of requests that the worker may
    /// still start.
    ///
    /// - always, if the target has no request in flight
    /// - never, if an untried or unresponsive target has a request in flight
    /// - otherwise, if its requests in flight are fewer than `per_target_max` (for a relay, [`UNANSWERED_MAX`]) and
    ///   fewer than half of the free slots
    ///
    /// The last rule keeps some slots free if many targets begin to hang at once.
    pub(super) fn may_start(&self, free_slots: usize, per_target_max: usize) -> bool {
        let per_target_max = if self.target.is_relay() { UNANSWERED_MAX } else { per_target_max };
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

    /// Returns whether a delivery that the owner of the webhook requested may be attempted before the next probe of the
    /// open circuit breaker.
    pub(super) fn may_probe(&self, delivery: &LeasedDelivery) -> bool {
        let allows = |at| self.breaker.allows_requested(at);
        self.is_idle() && delivery.requested_at.is_some_and(allows)
    }

    pub(super) fn is_idle(&self) -> bool {
        self.in_flight == 0 && self.queue.is_empty()
    }

    /// Inserts a delivery into the queue, which is ordered by the end of the leases. If the connection of a relay ends,
    /// its unanswered deliveries therefore return to their places before younger deliveries.
    pub(super) fn enqueue(&mut self, delivery: LeasedDelivery) {
        let order = |it: &LeasedDelivery| (it.lease_until, it.event.id());
        let place = order(&delivery);
        let before = self.queue.iter().rposition(|other| order(other) <= place);
        self.queue.insert(before.map_or(0, |index| index + 1), delivery);
        self.idle_since = None;
    }

    /// Returns for how long the target has been idle, or zero if it is busy. The time is counted from the first call
    /// that found the target idle.
    pub(super) fn idle_time(&mut self, now: Instant) -> Duration {
        let since = self.is_idle().then(|| *self.idle_since.get_or_insert(now));
        since.map_or(Duration::ZERO, |since| now.duration_since(since))
    }

    /// Removes and returns the first delivery if its lease ends before `needed`. The queue is in the order in which the
    /// leases end.
    pub(super) fn pop_expired(&mut self, needed: Timestamp) -> Option<LeasedDelivery> {
        self.queue.pop_front_if(|first| first.lease_until < needed)
    }
}

/// Maximum number of unanswered deliveries to a relay, over all its connections to this node. Excludes test events.
const UNANSWERED_MAX: usize = 32;
/// Maximum age of a target at the start of an attempt. Because of this limit, a change of a webhook takes effect on
/// every node within two seconds.
const TARGET_AGE_MAX: Duration = Duration::from_millis(1_500);
/// Age at which the target of queued deliveries is read again. Leaves enough time before [`TARGET_AGE_MAX`].
const REFRESH_AGE: Duration = Duration::from_millis(500);
