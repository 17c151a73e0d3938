//! How a target has answered lately, and the breaker that spares it, and everybody else, while it does not. Pure: the
//! time is passed in.

use std::time::Duration;

use sealpost_domain::Timestamp;

use crate::settings::Settings;

/// What the newest attempt at a target says about it. Any answer is an answer: a receiver that says 500 costs no
/// more than one that says 200.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Repute {
    /// It answered.
    Answering,
    /// It was not tried yet.
    #[default]
    New,
    /// It gave no answer.
    Silent,
}

/// A breaker that opened or closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Change {
    Closed,
    Opened,
}

/// When a delivery that is given back is due: from then on, spread over so long, so that not all come at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Wait {
    pub(crate) from: Timestamp,
    pub(crate) spread: Duration,
}

impl Wait {
    pub(crate) fn due_at(self, jitter: u32) -> Timestamp {
        let extra_ms = self.spread.as_millis() * u128::from(jitter) / u128::from(u32::MAX);
        self.from.plus(Duration::from_millis(u64::try_from(extra_ms).unwrap_or(u64::MAX)))
    }
}

/// The bounds of a breaker.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rules {
    /// After how many attempts in a row without an answer it opens.
    pub(crate) silences_max: u32,
    /// How long it stays open before the first probe, and before a later one at the most.
    pub(crate) pause: Duration,
    pub(crate) pause_max: Duration,
    /// How long what is given back, but for probes, is left alone at the least.
    pub(crate) spared: Duration,
    /// How long a probe may take.
    pub(crate) probe_max: Duration,
}

impl Rules {
    pub(crate) fn of(settings: &Settings) -> Self {
        let scaled = |span| settings.schedule.scaled(span);
        Self {
            silences_max: settings.breaker_failures.max(1),
            pause: scaled(settings.probe_pause),
            pause_max: scaled(settings.probe_pause_max.max(settings.probe_pause)),
            spared: scaled(SPARED),
            probe_max: settings.timeout,
        }
    }
}

#[derive(Debug, Default)]
pub(crate) struct Pulse {
    pub(crate) repute: Repute,
    /// Attempts in a row without an answer.
    silences: u32,
    open: Option<Open>,
}

/// A breaker that is open: nothing is sent, and then one probe at a time, until one is answered.
#[derive(Debug)]
struct Open {
    /// When the next probe may be sent.
    until: Timestamp,
    pause: Duration,
    /// A delivery that was given back is due when the probe is.
    has_probe: bool,
}

impl Pulse {
    pub(crate) fn answered(&mut self) -> Option<Change> {
        let was = std::mem::replace(self, Self { repute: Repute::Answering, ..Self::default() });
        was.open.map(|_| Change::Closed)
    }

    pub(crate) fn kept_silent(&mut self, now: Timestamp, rules: &Rules) -> Option<Change> {
        self.repute = Repute::Silent;
        self.silences = self.silences.saturating_add(1);
        match &self.open {
            None if self.silences >= rules.silences_max => {
                self.open = Some(Open::at(now, rules.pause));
                Some(Change::Opened)
            }
            Some(open) if !open.is_waiting(now) => {
                self.open = Some(Open::at(now, open.pause.saturating_mul(2).min(rules.pause_max)));
                None
            }
            // Not yet, or it was under way already when the breaker opened.
            _ => None,
        }
    }

    pub(crate) fn is_open(&self) -> bool {
        self.open.is_some()
    }

    /// How many may be queued for the target, which has `in_flight` under way of `per_target` at the most.
    pub(crate) fn queue_max(&self, now: Timestamp, in_flight: usize, per_target: usize) -> usize {
        match (&self.open, self.repute) {
            (Some(open), _) => usize::from(in_flight == 0 && !open.is_waiting(now)),
            // Each may take as long as an attempt may: more than these would outlast their leases.
            (None, Repute::Silent) => per_target,
            (None, Repute::Answering | Repute::New) => usize::MAX,
        }
    }

    /// When the next delivery that is given back is due. The first is the next probe; the others come after it, and not
    /// sooner for a short pause: an answer wakes them.
    pub(crate) fn wait(&mut self, now: Timestamp, rules: &Rules) -> Wait {
        let Some(open) = &mut self.open else {
            return Wait { from: now.plus(rules.spared), spread: rules.spared };
        };
        let next = open.next_probe(now);
        if open.is_waiting(now) && !open.has_probe {
            open.has_probe = true;
            return Wait { from: next, spread: Duration::ZERO };
        }
        let from = next.max(now.plus(rules.spared)).plus(rules.probe_max);
        Wait { from, spread: open.pause.max(rules.spared) }
    }

    /// When the next probe may be sent, where the breaker is open and nothing was given back that is due then.
    pub(crate) fn wants_probe(&self, now: Timestamp) -> Option<Timestamp> {
        self.open.as_ref().filter(|open| !open.has_probe).map(|open| open.next_probe(now))
    }

    /// Something is due now when the next probe may be sent.
    pub(crate) fn has_probe(&mut self) {
        if let Some(open) = &mut self.open {
            open.has_probe = true;
        }
    }
}

impl Open {
    fn at(now: Timestamp, pause: Duration) -> Self {
        Self { until: now.plus(pause), pause, has_probe: false }
    }

    fn next_probe(&self, now: Timestamp) -> Timestamp {
        if self.is_waiting(now) { self.until } else { now }
    }

    /// Whether it is too early for a probe. A clock that was set back must not make it wait longer than it should.
    fn is_waiting(&self, now: Timestamp) -> bool {
        now < self.until && self.until.since(now) <= self.pause
    }
}

/// By the contract's schedule; a shorter one shortens it.
const SPARED: Duration = Duration::from_secs(30);

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp::from_millis(1_767_225_600_000);
    const RULES: Rules = Rules {
        silences_max: 5,
        pause: Duration::from_secs(5),
        pause_max: Duration::from_mins(5),
        spared: Duration::from_secs(30),
        probe_max: Duration::from_secs(15),
    };

    fn after(seconds: u64) -> Timestamp {
        NOW.plus(Duration::from_secs(seconds))
    }

    /// Silent for so many attempts, all of which ended now.
    fn silent(attempts: u32) -> Pulse {
        let mut pulse = Pulse::default();
        for _ in 0..attempts {
            pulse.kept_silent(NOW, &RULES);
        }
        pulse
    }

    #[test]
    fn five_attempts_in_a_row_without_an_answer_open_it_and_an_answer_closes_it() {
        let mut pulse = silent(4);
        assert!(!pulse.is_open());
        assert_eq!(pulse.answered(), None);
        for _ in 0..4 {
            assert_eq!(pulse.kept_silent(NOW, &RULES), None);
        }
        assert_eq!(pulse.kept_silent(NOW, &RULES), Some(Change::Opened));
        assert_eq!(pulse.kept_silent(NOW, &RULES), None, "it is said once");
        assert_eq!(pulse.answered(), Some(Change::Closed));
        assert_eq!((pulse.is_open(), pulse.repute), (false, Repute::Answering));
    }

    #[test]
    fn pauses_grow_to_their_maximum_and_only_by_probes() {
        let mut pulse = silent(8);
        let mut now = NOW;
        let pauses = (0..8).map(|_| {
            let open = pulse.open.as_ref().unwrap();
            let (pause, until) = (open.pause, open.until);
            assert_eq!(until, now.plus(pause));
            now = until;
            pulse.kept_silent(now, &RULES);
            pause.as_secs()
        });
        assert_eq!(pauses.collect::<Vec<_>>(), [5, 10, 20, 40, 80, 160, 300, 300]);
    }

    #[test]
    fn one_probe_at_a_time_is_let_through_after_the_pause() {
        let pulse = silent(5);
        let room = |seconds, in_flight| pulse.queue_max(after(seconds), in_flight, 8);
        assert_eq!([room(0, 0), room(4, 0)], [0, 0]);
        assert_eq!([room(5, 0), room(5, 1), room(99, 0)], [1, 0, 1]);
    }

    #[test]
    fn what_is_given_back_is_due_after_the_next_probe_but_for_the_probe() {
        let mut pulse = silent(5);
        let probe = |seconds| Wait { from: after(seconds), spread: Duration::ZERO };
        let rest = |seconds| Wait { from: after(seconds), spread: RULES.spared };
        assert_eq!(pulse.wait(NOW, &RULES), probe(5));
        assert_eq!(pulse.wait(NOW, &RULES), rest(45));
        // While the probe is under way.
        assert_eq!(pulse.wait(after(6), &RULES), rest(51));
        pulse.kept_silent(after(20), &RULES);
        assert_eq!(pulse.wait(after(20), &RULES), probe(30));
        assert_eq!(pulse.wait(after(20), &RULES), rest(65));
        for seconds in [30, 50, 90] {
            pulse.kept_silent(after(seconds), &RULES);
        }
        let (first, second) = (pulse.wait(after(90), &RULES), pulse.wait(after(90), &RULES));
        assert_eq!(first, probe(170));
        assert_eq!(second, Wait { from: after(185), spread: Duration::from_secs(80) });
    }

    #[test]
    fn a_breaker_wants_a_probe_until_something_is_due_then() {
        let mut pulse = silent(4);
        assert_eq!(pulse.wants_probe(NOW), None);
        pulse.kept_silent(NOW, &RULES);
        assert_eq!(
            (pulse.wants_probe(NOW), pulse.wants_probe(after(9))),
            (Some(after(5)), Some(after(9)))
        );
        pulse.has_probe();
        assert_eq!(pulse.wants_probe(NOW), None);
        pulse.kept_silent(after(9), &RULES);
        assert_eq!(pulse.wants_probe(after(9)), Some(after(19)), "that one was in vain");
        pulse.wait(after(9), &RULES);
        assert_eq!(pulse.wants_probe(after(9)), None);
    }

    #[test]
    fn a_silent_target_keeps_few_and_waits_no_longer_for_a_clock_that_was_set_back() {
        let mut pulse = silent(1);
        assert_eq!(pulse.queue_max(NOW, 0, 8), 8);
        assert_eq!(pulse.wait(NOW, &RULES), Wait { from: after(30), spread: RULES.spared });
        let pulse = silent(5);
        assert_eq!(pulse.queue_max(NOW.minus(Duration::from_hours(1)), 0, 8), 1);
    }

    #[test]
    fn waits_are_spread_and_never_shortened() {
        let wait = Wait { from: NOW, spread: RULES.spared };
        assert_eq!(wait.due_at(0), NOW);
        assert_eq!(wait.due_at(u32::MAX), after(30));
        assert!(wait.due_at(u32::MAX / 2) > after(14) && wait.due_at(u32::MAX / 2) < after(15));
    }
}
