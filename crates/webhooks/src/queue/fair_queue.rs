//! Chooses the target of the next request: round-robin over targets, with a quota of slots for each health class.
//!
//! Untried and unresponsive targets share a part of the slots. However many of them there are, responsive targets get
//! slots.

use std::collections::VecDeque;

use sealpost_domain::WebhookId;

use crate::{circuit_breaker::target_health::TargetHealth, settings::Settings};

/// The turns of targets with queued deliveries.
pub(crate) struct FairQueue {
    ready: VecDeque<WebhookId>,
    responsive: Quota,
    unresponsive: Quota,
    untried: Quota,
    slots_max: usize,
}

/// The right to have one request in flight, charged to the target's health class at the start of the request.
#[derive(Debug)]
pub(crate) struct Slot(TargetHealth);

/// The slots of one health class.
struct Quota {
    used: usize,
    max: usize,
    /// Targets without a slot at their turn.
    waiting: VecDeque<WebhookId>,
}

impl FairQueue {
    pub(crate) fn new(settings: &Settings) -> Self {
        let slots_max = settings.in_flight_per_worker();
        let bounds = &settings.bounds;
        let part = |divisor: usize| Quota::new(slots_max / divisor.max(1));
        Self {
            ready: VecDeque::new(),
            responsive: part(1),
            unresponsive: part(bounds.unresponsive_quota_divisor),
            untried: part(bounds.untried_quota_divisor),
            slots_max,
        }
    }

    pub(crate) fn free_slots(&self) -> usize {
        let used = self.responsive.used + self.unresponsive.used + self.untried.used;
        self.slots_max.saturating_sub(used)
    }

    pub(crate) fn push(&mut self, id: WebhookId) {
        self.ready.push_back(id);
    }

    /// Returns the target with the next turn, or `None` without a free slot. Targets that waited for a slot come first.
    pub(crate) fn pop(&mut self) -> Option<WebhookId> {
        if self.free_slots() == 0 {
            return None;
        }
        let quotas = [&mut self.responsive, &mut self.untried, &mut self.unresponsive];
        let waited = quotas.into_iter().find_map(Quota::pop_waiting);
        waited.or_else(|| self.ready.pop_front())
    }

    /// Takes a slot for the target. If the quota of its health class is used up, the target waits for that quota.
    pub(crate) fn acquire(&mut self, id: WebhookId, health: TargetHealth) -> Option<Slot> {
        let quota = self.quota(health);
        if quota.used >= quota.max {
            quota.waiting.push_back(id);
            return None;
        }
        quota.used += 1;
        Some(Slot(health))
    }

    pub(crate) fn release(&mut self, slot: &Slot) {
        let quota = self.quota(slot.0);
        quota.used = quota.used.saturating_sub(1);
    }

    fn quota(&mut self, health: TargetHealth) -> &mut Quota {
        match health {
            TargetHealth::Responsive => &mut self.responsive,
            TargetHealth::Unresponsive => &mut self.unresponsive,
            TargetHealth::Untried => &mut self.untried,
        }
    }
}

impl Quota {
    fn new(max: usize) -> Self {
        Self { used: 0, max: max.max(1), waiting: VecDeque::new() }
    }

    fn pop_waiting(&mut self) -> Option<WebhookId> {
        if self.used < self.max { self.waiting.pop_front() } else { None }
    }
}
