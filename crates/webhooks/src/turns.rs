//! Whose turn it is, and how many places there are for whom: turns go round, and targets that were not heard of, or that
//! keep silent, share a part of the places, so that however many of them there are, those that answer get through.

use std::collections::VecDeque;

use sealpost_domain::WebhookId;

use crate::pulse::Repute;

pub(crate) struct Turns {
    ready: VecDeque<WebhookId>,
    answering: Share,
    new: Share,
    silent: Share,
    places_max: usize,
}

/// A place that a request has taken, by the repute that its target had then.
#[derive(Debug)]
pub(crate) struct Place(Repute);

struct Share {
    taken: usize,
    max: usize,
    /// Targets whose turn came while there was no place for them.
    waiting: VecDeque<WebhookId>,
}

impl Turns {
    pub(crate) fn new(places_max: usize) -> Self {
        let share = |max: usize| Share { taken: 0, max: max.max(1), waiting: VecDeque::new() };
        Self {
            ready: VecDeque::new(),
            answering: share(places_max),
            new: share(places_max / NEW_SHARE),
            silent: share(places_max / SILENT_SHARE),
            places_max: places_max.max(1),
        }
    }

    /// How many places nobody has taken.
    pub(crate) fn free(&self) -> usize {
        let taken = self.answering.taken + self.new.taken + self.silent.taken;
        self.places_max.saturating_sub(taken)
    }

    pub(crate) fn push(&mut self, id: WebhookId) {
        self.ready.push_back(id);
    }

    /// The next whose turn it is; `None` where nobody can have one. Whoever waited for a place of its kind is first
    /// when there is one.
    pub(crate) fn pop(&mut self) -> Option<WebhookId> {
        if self.free() == 0 {
            return None;
        }
        let shares = [&mut self.answering, &mut self.new, &mut self.silent];
        let waited = shares.into_iter().find_map(Share::next_waiting);
        waited.or_else(|| self.ready.pop_front())
    }

    /// A place for the target whose turn it is. Where there is none for its repute, it waits for one.
    pub(crate) fn take(&mut self, id: WebhookId, repute: Repute) -> Option<Place> {
        let share = self.share(repute);
        if share.taken >= share.max {
            share.waiting.push_back(id);
            return None;
        }
        share.taken += 1;
        Some(Place(repute))
    }

    pub(crate) fn give_back(&mut self, place: &Place) {
        let share = self.share(place.0);
        share.taken = share.taken.saturating_sub(1);
    }

    fn share(&mut self, repute: Repute) -> &mut Share {
        match repute {
            Repute::Answering => &mut self.answering,
            Repute::New => &mut self.new,
            Repute::Silent => &mut self.silent,
        }
    }
}

impl Share {
    fn next_waiting(&mut self) -> Option<WebhookId> {
        if self.taken < self.max { self.waiting.pop_front() } else { None }
    }
}

/// Targets that were not heard of yet have half of the places, silent ones a quarter.
const NEW_SHARE: usize = 2;
const SILENT_SHARE: usize = 4;
