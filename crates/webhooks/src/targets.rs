//! What is known of each target: its queue, what is under way to it, how it has answered lately, its connections. A
//! target with much to send, or one that hangs, holds up nobody else.

mod waking;

use std::{
    collections::{HashMap, VecDeque},
    mem,
    rc::Rc,
    time::{Duration, Instant},
};

use sealpost_domain::{LeasedDelivery, Timestamp, WebhookId, ports::ExpeditedDelivery};

use crate::{
    asleep::Asleep,
    channel::Channel,
    client::KEEP_ALIVE,
    pulse::{Change, Pulse, Repute, Rules, Wait},
    settings::Settings,
    turns::{Place, Turns},
};

pub(crate) struct Targets {
    by_id: HashMap<WebhookId, TargetState>,
    turns: Turns,
    /// Targets in the order in which they became idle; those that were busy again since have another time.
    idle: VecDeque<(WebhookId, Instant)>,
    /// How many targets have a channel.
    channels: usize,
    /// What is not to be sent for now, and when it is due again.
    postponed: Vec<(LeasedDelivery, Wait)>,
    /// What was given back of it, and is not due yet.
    asleep: Asleep,
    /// What of that is to be due sooner after all.
    expedited: Vec<ExpeditedDelivery>,
    in_flight_per_target: usize,
    rules: Rules,
}

#[derive(Default)]
struct TargetState {
    queue: VecDeque<LeasedDelivery>,
    in_flight: usize,
    has_turn: bool,
    pulse: Pulse,
    channel: Option<Rc<Channel>>,
    idle_since: Option<Instant>,
}

/// What an attempt says about its target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Heard {
    Answer,
    Nothing,
    /// It was not tried after all.
    NotTried,
}

/// How things stand, for whoever watches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Census {
    pub(crate) queued: usize,
    pub(crate) open_breakers: usize,
}

impl Targets {
    pub(crate) fn new(settings: &Settings) -> Self {
        Self {
            by_id: HashMap::new(),
            turns: Turns::new(settings.in_flight_per_lane()),
            idle: VecDeque::new(),
            channels: 0,
            postponed: Vec::new(),
            asleep: Asleep::new(settings.queue_max / settings.lanes()),
            expedited: Vec::new(),
            in_flight_per_target: settings.in_flight_per_target.max(1),
            rules: Rules::of(settings),
        }
    }

    /// Queues a delivery, or postpones it where its target does not answer. `false` where neither may be: its target
    /// has more queued than there is room left (`free`). So a target may fill half of the memory when it is alone,
    /// less when others are busy too, and never all of it.
    pub(crate) fn push(&mut self, delivery: LeasedDelivery, free: usize, now: Timestamp) -> bool {
        let id = delivery.target.webhook_id;
        let state = self.by_id.entry(id).or_default();
        if state.queue.len() >= state.queue_max(now, self.in_flight_per_target) {
            self.postponed.push((delivery, state.pulse.wait(now, &self.rules)));
            return true;
        }
        if state.queue.len() > free {
            return false;
        }
        state.queue.push_back(delivery);
        state.idle_since = None;
        self.give_turn(id);
        true
    }

    /// The next delivery, whose target now counts one more request under way.
    pub(crate) fn next(&mut self) -> Option<(LeasedDelivery, Place)> {
        while let Some(id) = self.turns.pop() {
            let free = self.turns.free();
            let Some(state) = self.by_id.get_mut(&id) else { continue };
            state.has_turn = state.may_begin(free, self.in_flight_per_target);
            if state.has_turn
                && let Some(delivery) = state.queue.pop_front()
            {
                let Some(place) = self.turns.take(id, state.pulse.repute) else {
                    state.queue.push_front(delivery);
                    continue;
                };
                state.has_turn = false;
                state.in_flight += 1;
                self.give_turn(id);
                return Some((delivery, place));
            }
            state.has_turn = false;
        }
        None
    }

    /// A request to this target is over; says whether that opened or closed its breaker. An answer wakes what waits for
    /// one.
    pub(crate) fn finished(
        &mut self,
        id: WebhookId,
        place: &Place,
        heard: Heard,
        now: Timestamp,
    ) -> Option<Change> {
        self.turns.give_back(place);
        let state = self.by_id.get_mut(&id)?;
        state.in_flight = state.in_flight.saturating_sub(1);
        let change = match heard {
            Heard::Answer => state.pulse.answered(),
            Heard::Nothing => state.pulse.kept_silent(now, &self.rules),
            Heard::NotTried => None,
        };
        let kept = state.queue_max(now, self.in_flight_per_target).min(state.queue.len());
        for delivery in state.queue.split_off(kept) {
            self.postponed.push((delivery, state.pulse.wait(now, &self.rules)));
        }
        if heard == Heard::Answer {
            self.wake(id, change, now);
        }
        self.note_idle(id);
        self.give_turn(id);
        change
    }

    /// Postpones what is queued for a target that gets nothing more, for the database to judge.
    pub(crate) fn withdraw(&mut self, id: WebhookId, now: Timestamp) {
        let queue = self.by_id.get_mut(&id).map(|state| mem::take(&mut state.queue));
        let wait = Wait { from: now, spread: Duration::ZERO };
        self.asleep.forget(id);
        self.postponed.extend(queue.into_iter().flatten().map(|delivery| (delivery, wait)));
        self.note_idle(id);
    }

    /// Targets that have something queued.
    pub(crate) fn waiting(&self) -> impl Iterator<Item = WebhookId> {
        self.by_id.iter().filter(|(_, state)| !state.queue.is_empty()).map(|(id, _)| *id)
    }

    /// How many deliveries are postponed and not taken yet.
    pub(crate) fn postponed(&self) -> usize {
        self.postponed.len()
    }

    /// Takes what is postponed, to give it back to the database.
    pub(crate) fn take_postponed(&mut self) -> Vec<(LeasedDelivery, Wait)> {
        mem::take(&mut self.postponed)
    }

    /// The target's channel, as it was remembered.
    pub(crate) fn channel(&self, id: WebhookId) -> Option<&Rc<Channel>> {
        self.by_id.get(&id)?.channel.as_ref()
    }

    /// Remembers the target's channel until the target is idle.
    pub(crate) fn remember(&mut self, id: WebhookId, channel: Rc<Channel>) {
        let state = self.by_id.entry(id).or_default();
        self.channels += usize::from(state.channel.replace(channel).is_none());
    }

    /// Drops what is queued under leases that end before `needed`, the channels of targets that have been idle, and
    /// targets that have been idle for long; says how many deliveries that were. Queues are in the order of their
    /// leases, near enough.
    pub(crate) fn tidy(&mut self, needed: Timestamp) -> usize {
        let (mut lapsed, now) = (0, Instant::now());
        let is_full = self.by_id.len() > KNOWN_MAX;
        let known_for = KNOWN_FOR.max(self.rules.pause_max.saturating_mul(2));
        let idle_max = if is_full { KEEP_ALIVE } else { known_for };
        self.by_id.retain(|_, state| {
            while state.queue.pop_front_if(|first| first.lease_until < needed).is_some() {
                lapsed += 1;
            }
            let idle_since = state.is_idle().then(|| *state.idle_since.get_or_insert(now));
            let idle_for = idle_since.map_or(Duration::ZERO, |since| now.duration_since(since));
            if idle_for >= KEEP_ALIVE {
                self.channels -= usize::from(state.channel.take().is_some());
                state.queue = VecDeque::new();
            }
            idle_for < idle_max
        });
        self.idle.retain(|(id, since)| has_channel_since(&self.by_id, id, *since));
        lapsed
    }

    /// Counts; not for every turn, since it looks at every target.
    pub(crate) fn census(&self) -> Census {
        let queued = self.by_id.values().map(|state| state.queue.len()).sum();
        let open_breakers = self.by_id.values().filter(|state| state.pulse.is_open()).count();
        Census { queued, open_breakers }
    }

    /// Everything that is queued.
    pub(crate) fn into_queued(self) -> impl Iterator<Item = LeasedDelivery> {
        self.by_id.into_values().flat_map(|state| state.queue)
    }

    fn note_idle(&mut self, id: WebhookId) {
        if let Some(state) = self.by_id.get_mut(&id)
            && state.is_idle()
        {
            let now = Instant::now();
            state.idle_since = Some(now);
            self.idle.push_back((id, now));
            self.close_one_of_many();
        }
    }

    /// Idle connections are open sockets: among many targets, those that were idle longest lose theirs.
    fn close_one_of_many(&mut self) {
        while self.channels > CHANNELS_MAX
            && let Some((id, since)) = self.idle.pop_front()
        {
            if has_channel_since(&self.by_id, &id, since)
                && let Some(state) = self.by_id.get_mut(&id)
            {
                state.channel = None;
                self.channels -= 1;
            }
        }
    }

    fn give_turn(&mut self, id: WebhookId) {
        let free = self.turns.free();
        let Some(state) = self.by_id.get_mut(&id) else { return };
        let wants_turn = !state.has_turn && !state.queue.is_empty();
        if wants_turn && state.may_begin(free, self.in_flight_per_target) {
            state.has_turn = true;
            self.turns.push(id);
        }
    }
}

impl TargetState {
    fn is_idle(&self) -> bool {
        self.in_flight == 0 && self.queue.is_empty()
    }

    /// Whether another request may be begun where `free` places are free. The first always may. A target that has
    /// not answered has one at a time; one that answers has at most half as many as are left for others, so that
    /// when many of them begin to hang at once, some places stay free.
    fn may_begin(&self, free: usize, per_target: usize) -> bool {
        match (self.in_flight, self.pulse.repute) {
            (0, _) => true,
            (_, Repute::New | Repute::Silent) => false,
            (under_way, Repute::Answering) => under_way < per_target && under_way * 2 < free,
        }
    }

    fn queue_max(&self, now: Timestamp, per_target: usize) -> usize {
        self.pulse.queue_max(now, self.in_flight, per_target)
    }
}

fn has_channel_since(
    by_id: &HashMap<WebhookId, TargetState>,
    id: &WebhookId,
    since: Instant,
) -> bool {
    by_id.get(id).is_some_and(|state| state.channel.is_some() && state.idle_since == Some(since))
}

/// How many targets have channels before idle ones lose theirs.
const CHANNELS_MAX: usize = 512;

/// How long an idle target is known at the least, so that a breaker outlasts its pause, unless there are more than
/// so many.
const KNOWN_FOR: Duration = Duration::from_mins(10);
const KNOWN_MAX: usize = 10_000;

#[cfg(test)]
mod tests;
