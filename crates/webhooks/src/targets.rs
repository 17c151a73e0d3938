//! Whose turn it is: a queue per target, a bound on what is under way to each, and turns that go round, so that a
//! target with much to send, or one that hangs, holds up nobody else.

use std::{
    collections::{HashMap, VecDeque},
    rc::Rc,
    time::Instant,
};

use sealpost_domain::{LeasedDelivery, Timestamp, WebhookId};

use crate::{channel::Channel, client::KEEP_ALIVE};

pub(crate) struct Targets {
    by_id: HashMap<WebhookId, TargetState>,
    /// Targets that have something queued and may begin another request; each once.
    turns: VecDeque<WebhookId>,
    /// Targets in the order in which they became idle; those that were busy again since have another time.
    idle: VecDeque<(WebhookId, Instant)>,
    in_flight_per_target: usize,
}

#[derive(Default)]
struct TargetState {
    queue: VecDeque<LeasedDelivery>,
    in_flight: usize,
    has_turn: bool,
    channel: Option<Rc<Channel>>,
    idle_since: Option<Instant>,
}

impl Targets {
    pub(crate) fn new(in_flight_per_target: usize) -> Self {
        Self {
            by_id: HashMap::new(),
            turns: VecDeque::new(),
            idle: VecDeque::new(),
            in_flight_per_target: in_flight_per_target.max(1),
        }
    }

    /// Queues a delivery, unless its target has more queued than there is room left (`free`). So a target may fill
    /// half of the memory when it is alone, less when others are busy too, and never all of it.
    pub(crate) fn push(&mut self, delivery: LeasedDelivery, free: usize) -> bool {
        let id = delivery.target.webhook_id;
        let state = self.by_id.entry(id).or_default();
        if state.queue.len() > free {
            return false;
        }
        state.queue.push_back(delivery);
        state.idle_since = None;
        self.give_turn(id);
        true
    }

    /// The next delivery, whose target now counts one more request under way.
    pub(crate) fn next(&mut self) -> Option<LeasedDelivery> {
        while let Some(id) = self.turns.pop_front() {
            let Some(state) = self.by_id.get_mut(&id) else { continue };
            state.has_turn = false;
            if state.in_flight >= self.in_flight_per_target {
                continue;
            }
            let Some(delivery) = state.queue.pop_front() else { continue };
            state.in_flight += 1;
            self.give_turn(id);
            return Some(delivery);
        }
        None
    }

    /// A request to this target is over.
    pub(crate) fn finished(&mut self, id: WebhookId) {
        if let Some(state) = self.by_id.get_mut(&id) {
            state.in_flight = state.in_flight.saturating_sub(1);
            if state.is_idle() {
                let now = Instant::now();
                state.idle_since = Some(now);
                self.idle.push_back((id, now));
                self.forget_one_of_many();
            }
        }
        self.give_turn(id);
    }

    /// The target's channel, as it was remembered.
    pub(crate) fn channel(&self, id: WebhookId) -> Option<&Rc<Channel>> {
        self.by_id.get(&id)?.channel.as_ref()
    }

    /// Remembers the target's channel until the target is idle.
    pub(crate) fn remember(&mut self, id: WebhookId, channel: Rc<Channel>) {
        self.by_id.entry(id).or_default().channel = Some(channel);
    }

    /// Drops what is queued under leases that end before `needed`, and targets that have been idle; says how many
    /// deliveries that were. Queues are in the order of their leases, near enough.
    pub(crate) fn tidy(&mut self, needed: Timestamp) -> usize {
        let (mut lapsed, now) = (0, Instant::now());
        self.by_id.retain(|_, state| {
            while state.queue.pop_front_if(|first| first.lease_until < needed).is_some() {
                lapsed += 1;
            }
            let idle_since = state.is_idle().then(|| *state.idle_since.get_or_insert(now));
            idle_since.is_none_or(|since| now.duration_since(since) < KEEP_ALIVE)
        });
        self.idle.retain(|(id, since)| is_idle_since(&self.by_id, id, *since));
        lapsed
    }

    /// Everything that is queued.
    pub(crate) fn into_queued(self) -> impl Iterator<Item = LeasedDelivery> {
        self.by_id.into_values().flat_map(|state| state.queue)
    }

    /// Idle connections are open sockets: among many targets, those that were idle longest lose theirs.
    fn forget_one_of_many(&mut self) {
        while self.by_id.len() > KNOWN_MAX
            && let Some((id, since)) = self.idle.pop_front()
        {
            if is_idle_since(&self.by_id, &id, since) {
                self.by_id.remove(&id);
            }
        }
    }

    fn give_turn(&mut self, id: WebhookId) {
        let Some(state) = self.by_id.get_mut(&id) else { return };
        let may_begin = state.in_flight < self.in_flight_per_target && !state.queue.is_empty();
        if may_begin && !state.has_turn {
            state.has_turn = true;
            self.turns.push_back(id);
        }
    }
}

impl TargetState {
    fn is_idle(&self) -> bool {
        self.in_flight == 0 && self.queue.is_empty()
    }
}

fn is_idle_since(by_id: &HashMap<WebhookId, TargetState>, id: &WebhookId, since: Instant) -> bool {
    by_id.get(id).is_some_and(|state| state.idle_since == Some(since))
}

/// How many targets are known before idle ones are forgotten.
const KNOWN_MAX: usize = 512;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::outbox::{delivery, webhook_id};

    fn drain(targets: &mut Targets) -> Vec<WebhookId> {
        std::iter::from_fn(|| targets.next()).map(|next| next.target.webhook_id).collect()
    }

    #[test]
    fn turns_go_round() {
        let mut targets = Targets::new(8);
        for envelope in 0..3 {
            targets.push(delivery(1, envelope), 100);
        }
        targets.push(delivery(2, 9), 100);
        let [a, b] = [webhook_id(1), webhook_id(2)];
        assert_eq!(drain(&mut targets), [a, b, a, a]);
    }

    #[test]
    fn a_target_has_so_many_requests_under_way_and_no_more() {
        let mut targets = Targets::new(2);
        for envelope in 0..5 {
            targets.push(delivery(1, envelope), 100);
        }
        assert_eq!(drain(&mut targets).len(), 2);
        targets.finished(webhook_id(1));
        assert_eq!(drain(&mut targets).len(), 1);
        targets.push(delivery(2, 0), 100);
        assert_eq!(drain(&mut targets), [webhook_id(2)]);
    }

    #[test]
    fn a_target_never_takes_all_the_room() {
        let mut targets = Targets::new(8);
        let queued =
            (0..100).filter(|taken| targets.push(delivery(1, *taken), 100 - usize::from(*taken)));
        assert_eq!(queued.count(), 51);
        assert!(targets.push(delivery(2, 0), 0), "another target always gets a place");
    }

    #[test]
    fn what_can_no_longer_be_sent_in_time_is_dropped() {
        let mut targets = Targets::new(8);
        targets.push(delivery(1, 0), 100);
        let until = delivery(1, 0).lease_until;
        assert_eq!(targets.tidy(until), 0);
        assert_eq!(targets.tidy(Timestamp::from_millis(until.as_millis() + 1)), 1);
        assert_eq!(drain(&mut targets), []);
        targets.push(delivery(1, 1), 100);
        assert_eq!(drain(&mut targets).len(), 1, "the target still gets its turn afterwards");
    }

    #[test]
    fn among_many_targets_those_idle_longest_are_forgotten() {
        let mut targets = Targets::new(8);
        let mut use_once = |target| {
            targets.push(delivery(target, 0), 10_000);
            for id in drain(&mut targets) {
                targets.finished(id);
            }
        };
        (0..600).for_each(|target| {
            use_once(0);
            use_once(target);
        });
        assert_eq!(targets.by_id.len(), KNOWN_MAX);
        let is_known = |target| targets.by_id.contains_key(&webhook_id(target));
        assert!(is_known(0) && !is_known(1) && !is_known(88) && is_known(599));
        targets.tidy(Timestamp::from_millis(0));
        assert_eq!(targets.idle.len(), KNOWN_MAX);
    }
}
