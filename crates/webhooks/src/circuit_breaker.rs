//! Implements the circuit breaker of a webhook's target URL. While a breaker is open, the target gets no requests
//! except single probe requests. The breaker reads no clock: callers pass the current time.

pub(crate) mod deferral;

use std::time::Duration;

use sealpost_domain::Timestamp;

use self::deferral::Deferral;
use crate::settings::Settings;

/// A change of a breaker's state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BreakerTransition {
    Closed,
    Opened,
}

/// The health of a target, judged by recent attempts. A response of any status is a sign of health, even status 500.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum TargetHealth {
    Responsive,
    /// The average response time reached [`SLOW_RESPONSE`]. Slow targets may use only a part of the requests in flight,
    /// so that responsive targets still get requests.
    Slow,
    Unresponsive,
    /// No attempt to send to the target has ended yet.
    #[default]
    Untried,
}

/// The result of one attempt, reduced to its effect on the health of the target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum HealthSign {
    NoResponse,
    /// No request was sent, so the health of the target does not change.
    NotAttempted,
    /// The target responded with any status. The value is the duration of the attempt.
    Response(Duration),
}

/// Settings of a circuit breaker. A retry schedule with a short first pause [shortens](crate::RetrySchedule::scaled)
/// all pauses.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BreakerSettings {
    /// Number of consecutive failures that opens the breaker.
    pub(crate) failures_max: u32,
    /// Time from the opening of the breaker to the first probe.
    pub(crate) probe_pause: Duration,
    /// Maximum pause between probes. The pause doubles after each failed probe.
    pub(crate) probe_pause_max: Duration,
    /// Minimum time until a deferred delivery (returned to the database without an attempt) is due again. Does not
    /// apply to the delivery that becomes the next probe.
    pub(crate) deferral_min: Duration,
    /// Maximum duration of an attempt, and therefore of a probe.
    pub(crate) attempt_timeout: Duration,
}

#[derive(Debug, Default)]
pub(crate) struct CircuitBreaker {
    health: TargetHealth,
    /// Number of consecutive attempts without a response.
    failures: u32,
    open: Option<OpenState>,
    /// Moving average of the duration of attempts with a response.
    response_time: Option<Duration>,
}

/// State of an open breaker. Until the time `until`, the target gets no requests. Then the target gets one probe at a
/// time, until a probe gets a response.
#[derive(Debug)]
struct OpenState {
    /// Earliest time of the next probe.
    until: Timestamp,
    pause: Duration,
    /// End of the last attempt without a response.
    failed_at: Timestamp,
    /// Whether a delivery in the database is already due at the time of the next probe. This delivery becomes the
    /// probe.
    probe_scheduled: bool,
}

impl BreakerSettings {
    pub(crate) fn new(settings: &Settings) -> Self {
        let scaled = |duration| settings.schedule.scaled(duration);
        Self {
            failures_max: settings.breaker_failures.max(1),
            probe_pause: scaled(PROBE_PAUSE),
            probe_pause_max: scaled(settings.probe_pause_max.max(PROBE_PAUSE)),
            deferral_min: scaled(DEFERRAL_MIN),
            attempt_timeout: settings.timeout,
        }
    }
}

impl CircuitBreaker {
    pub(crate) fn health(&self) -> TargetHealth {
        self.health
    }

    pub(crate) fn is_open(&self) -> bool {
        self.open.is_some()
    }

    /// Records a response with any HTTP status, and closes the breaker. Returns the transition if the breaker was open.
    pub(crate) fn record_response(&mut self, duration: Duration) -> Option<BreakerTransition> {
        let average = self.response_time.map_or(duration, |average| (average * 3 + duration) / 4);
        let is_slow = average >= SLOW_RESPONSE;
        let health = if is_slow { TargetHealth::Slow } else { TargetHealth::Responsive };
        let closed = Self { health, failures: 0, open: None, response_time: Some(average) };
        let previous = std::mem::replace(self, closed);
        previous.open.map(|_| BreakerTransition::Closed)
    }

    /// Records an attempt without a response. Opens the breaker after `failures_max` such attempts in a row, and
    /// returns the transition only then. After a failed probe of an open breaker, doubles the pause before the next
    /// probe, up to `probe_pause_max`.
    pub(crate) fn record_failure(
        &mut self,
        now: Timestamp,
        settings: &BreakerSettings,
    ) -> Option<BreakerTransition> {
        self.health = TargetHealth::Unresponsive;
        self.failures = self.failures.saturating_add(1);
        match &mut self.open {
            None if self.failures >= settings.failures_max => {
                self.open = Some(OpenState::new(now, settings.probe_pause));
                Some(BreakerTransition::Opened)
            }
            Some(open) if !open.is_pausing(now) => {
                let pause = open.pause.saturating_mul(2).min(settings.probe_pause_max);
                self.open = Some(OpenState::new(now, pause));
                None
            }
            // The breaker opened while this attempt was in flight, or the owner of the webhook requested the attempt.
            Some(open) => {
                open.failed_at = now;
                None
            }
            // There are too few failures to open the breaker.
            None => None,
        }
    }

    /// Returns the maximum length of the target's queue in memory; further deliveries are deferred. `in_flight` is the
    /// number of requests in flight to the target.
    /// - 1, if the breaker is open and a probe may start now
    /// - 0, if the breaker is open and no probe may start now
    /// - `per_target_max`, if the target is unresponsive but the breaker is closed
    /// - unlimited, for all other targets
    pub(crate) fn queue_max(
        &self,
        now: Timestamp,
        in_flight: usize,
        per_target_max: usize,
    ) -> usize {
        match (&self.open, self.health) {
            (Some(open), _) => usize::from(in_flight == 0 && !open.is_pausing(now)),
            // Each attempt may take the whole timeout. In a longer queue, the leases of the last deliveries would
            // therefore end before their attempts start.
            (None, TargetHealth::Unresponsive) => per_target_max,
            (None, TargetHealth::Responsive | TargetHealth::Slow | TargetHealth::Untried) => {
                usize::MAX
            }
        }
    }

    /// Chooses the range of due times for a deferred delivery, which returns to the database without an attempt:
    ///
    /// - Closed breaker: due after `deferral_min`.
    /// - Open breaker: due after the next probe, and not before `deferral_min` has passed.
    /// - Open breaker, if the next probe is still ahead and no delivery is scheduled for it: due at the time of this
    ///   probe. The delivery becomes the probe.
    ///
    /// If the target responds earlier, its deferred deliveries become due earlier.
    pub(crate) fn defer(&mut self, now: Timestamp, settings: &BreakerSettings) -> Deferral {
        let deferral_min = settings.deferral_min;
        let Some(open) = &mut self.open else {
            return Deferral { from: now.plus(deferral_min), spread: deferral_min };
        };
        let probe_at = open.next_probe(now);
        if open.is_pausing(now) && !open.probe_scheduled {
            open.probe_scheduled = true;
            return Deferral { from: probe_at, spread: Duration::ZERO };
        }
        let from = probe_at.max(now.plus(deferral_min)).plus(settings.attempt_timeout);
        Deferral { from, spread: open.pause.max(deferral_min) }
    }

    /// Returns true if the breaker is open and no attempt has failed since `requested_at`, when the owner of the
    /// webhook requested an attempt. The requested attempt may then be made before the next probe.
    pub(crate) fn allows_requested(&self, requested_at: Timestamp) -> bool {
        self.open.as_ref().is_some_and(|open| requested_at > open.failed_at)
    }

    /// Returns the time of the next probe if the breaker is open and no delivery is scheduled as this probe yet.
    pub(crate) fn probe_needed_at(&self, now: Timestamp) -> Option<Timestamp> {
        self.open.as_ref().filter(|open| !open.probe_scheduled).map(|open| open.next_probe(now))
    }

    /// Records that a delivery in the database is scheduled as the next probe.
    pub(crate) fn mark_probe_scheduled(&mut self) {
        if let Some(open) = &mut self.open {
            open.probe_scheduled = true;
        }
    }
}

impl OpenState {
    fn new(now: Timestamp, pause: Duration) -> Self {
        Self { until: now.plus(pause), pause, failed_at: now, probe_scheduled: false }
    }

    fn next_probe(&self, now: Timestamp) -> Timestamp {
        if self.is_pausing(now) { self.until } else { now }
    }

    /// Returns true if it is too early for a probe. If the clock is set back, the pause does not become longer.
    fn is_pausing(&self, now: Timestamp) -> bool {
        now < self.until && self.until.since(now) <= self.pause
    }
}

/// Time from the opening of a breaker to the first probe.
const PROBE_PAUSE: Duration = Duration::from_secs(5);
/// Minimum time until a delivery that returned to the database without an attempt is due again.
const DEFERRAL_MIN: Duration = Duration::from_secs(30);
/// Average response time from which a target is slow.
const SLOW_RESPONSE: Duration = Duration::from_secs(1);

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp::from_millis(1_767_225_600_000);
    const SETTINGS: BreakerSettings = BreakerSettings {
        failures_max: 5,
        probe_pause: Duration::from_secs(5),
        probe_pause_max: Duration::from_mins(5),
        deferral_min: Duration::from_secs(30),
        attempt_timeout: Duration::from_secs(15),
    };

    const FAST: Duration = Duration::from_millis(5);

    fn after(seconds: u64) -> Timestamp {
        NOW.plus(Duration::from_secs(seconds))
    }

    #[test]
    fn the_average_duration_of_responses_decides_whether_a_target_is_slow() {
        let mut breaker = CircuitBreaker::default();
        let mut health_after = |millis| {
            breaker.record_response(Duration::from_millis(millis));
            breaker.health()
        };
        assert_eq!(health_after(999), TargetHealth::Responsive);
        assert_eq!(health_after(1003), TargetHealth::Slow);
        assert_eq!(health_after(500), TargetHealth::Responsive);
        assert_eq!(health_after(14_000), TargetHealth::Slow);
        let fast = (1..=20).find(|_| health_after(5) == TargetHealth::Responsive);
        assert_eq!(fast, Some(5));
    }

    /// Returns a breaker that has recorded `attempts` attempts in a row without a response, all at the current time.
    fn failed(attempts: u32) -> CircuitBreaker {
        let mut breaker = CircuitBreaker::default();
        for _ in 0..attempts {
            breaker.record_failure(NOW, &SETTINGS);
        }
        breaker
    }

    #[test]
    fn five_failures_in_a_row_open_the_breaker_and_a_response_closes_it() {
        let mut breaker = failed(4);
        assert!(!breaker.is_open());
        assert_eq!(breaker.record_response(FAST), None);
        for _ in 0..4 {
            assert_eq!(breaker.record_failure(NOW, &SETTINGS), None);
        }
        assert_eq!(breaker.record_failure(NOW, &SETTINGS), Some(BreakerTransition::Opened));
        assert_eq!(breaker.record_failure(NOW, &SETTINGS), None, "it opens once");
        let transition = breaker.record_response(FAST);
        assert_eq!(transition, Some(BreakerTransition::Closed));
        assert_eq!((breaker.is_open(), breaker.health()), (false, TargetHealth::Responsive));
    }

    #[test]
    fn only_failed_probes_double_the_pause_up_to_its_maximum() {
        let mut breaker = failed(8);
        let mut now = NOW;
        let pauses = (0..8).map(|_| {
            let open = breaker.open.as_ref().unwrap();
            let (pause, until) = (open.pause, open.until);
            assert_eq!(until, now.plus(pause));
            now = until;
            breaker.record_failure(now, &SETTINGS);
            pause.as_secs()
        });
        assert_eq!(pauses.collect::<Vec<_>>(), [5, 10, 20, 40, 80, 160, 300, 300]);
    }

    #[test]
    fn one_probe_at_a_time_passes_after_the_pause() {
        let breaker = failed(5);
        let queue_max = |seconds, in_flight| breaker.queue_max(after(seconds), in_flight, 8);
        assert_eq!([queue_max(0, 0), queue_max(4, 0)], [0, 0]);
        assert_eq!([queue_max(5, 0), queue_max(5, 1), queue_max(99, 0)], [1, 0, 1]);
    }

    #[test]
    fn a_request_after_the_last_failure_allows_an_attempt_before_the_next_probe() {
        let mut breaker = failed(4);
        assert!(!breaker.allows_requested(after(1)), "the breaker is closed");
        breaker.record_failure(NOW, &SETTINGS);
        assert_eq!([0, 1].map(|seconds| breaker.allows_requested(after(seconds))), [false, true]);
        breaker.record_failure(after(2), &SETTINGS);
        assert_eq!([1, 3].map(|seconds| breaker.allows_requested(after(seconds))), [false, true]);
        assert_eq!(breaker.probe_needed_at(after(3)), Some(after(5)), "the pause is unchanged");
    }

    #[test]
    fn deferred_deliveries_are_due_after_the_next_probe() {
        let mut breaker = failed(5);
        let probe = |seconds| Deferral { from: after(seconds), spread: Duration::ZERO };
        let rest = |seconds| Deferral { from: after(seconds), spread: SETTINGS.deferral_min };
        assert_eq!(breaker.defer(NOW, &SETTINGS), probe(5));
        assert_eq!(breaker.defer(NOW, &SETTINGS), rest(45));
        // The probe is in flight.
        assert_eq!(breaker.defer(after(6), &SETTINGS), rest(51));
        breaker.record_failure(after(20), &SETTINGS);
        assert_eq!(breaker.defer(after(20), &SETTINGS), probe(30));
        assert_eq!(breaker.defer(after(20), &SETTINGS), rest(65));
        for seconds in [30, 50, 90] {
            breaker.record_failure(after(seconds), &SETTINGS);
        }
        let (first, second) =
            (breaker.defer(after(90), &SETTINGS), breaker.defer(after(90), &SETTINGS));
        assert_eq!(first, probe(170));
        assert_eq!(second, Deferral { from: after(185), spread: Duration::from_secs(80) });
    }

    #[test]
    fn an_open_breaker_needs_a_probe_until_a_probe_is_scheduled() {
        let mut breaker = failed(4);
        assert_eq!(breaker.probe_needed_at(NOW), None);
        breaker.record_failure(NOW, &SETTINGS);
        assert_eq!(
            (breaker.probe_needed_at(NOW), breaker.probe_needed_at(after(9))),
            (Some(after(5)), Some(after(9)))
        );
        breaker.mark_probe_scheduled();
        assert_eq!(breaker.probe_needed_at(NOW), None);
        breaker.record_failure(after(9), &SETTINGS);
        assert_eq!(breaker.probe_needed_at(after(9)), Some(after(19)), "the probe failed");
        breaker.defer(after(9), &SETTINGS);
        assert_eq!(breaker.probe_needed_at(after(9)), None);
    }

    #[test]
    fn an_unresponsive_target_queues_few_and_a_clock_set_back_does_not_prolong_the_pause() {
        let mut breaker = failed(1);
        assert_eq!(breaker.queue_max(NOW, 0, 8), 8);
        assert_eq!(
            breaker.defer(NOW, &SETTINGS),
            Deferral { from: after(30), spread: SETTINGS.deferral_min }
        );
        let breaker = failed(5);
        assert_eq!(breaker.queue_max(NOW.minus(Duration::from_hours(1)), 0, 8), 1);
    }
}
