//! What an attempt leads to: done, again at some time, or never again. Pure: the time and the jitter come from the
//! caller.

use std::time::Duration;

use sealpost_domain::{AttemptFailure, Outcome, Timestamp};

use crate::{
    answer::{Attempted, RetryAfter},
    schedule::{RetrySchedule, spread},
};

/// What attempt number `attempts`, which ended `at`, leads to. `jitter` gives any number, and is asked where there is a
/// retry.
pub(crate) fn outcome(
    schedule: &RetrySchedule,
    attempts: u32,
    attempted: &Attempted,
    at: Timestamp,
    jitter: impl FnOnce() -> u32,
) -> Outcome {
    let failure = match attempted.result {
        Ok(()) => return Outcome::Succeeded,
        Err(AttemptFailure::HttpStatus(GONE)) => return Outcome::Gone,
        Err(failure) => failure,
    };
    match schedule.pause(attempts) {
        Some(pause) if !attempted.is_aborted => {
            let asked = attempted.retry_after.map_or(Duration::ZERO, |after| after.from(at));
            let wait = pause.max(least(schedule, failure)).max(honoured(asked, pause));
            Outcome::Retry { failure, due_at: at.plus(spread(wait, jitter())) }
        }
        _ => Outcome::Exhausted(failure),
    }
}

/// What a receiver that is overloaded, or seems to be, is granted at the least.
fn least(schedule: &RetrySchedule, failure: AttemptFailure) -> Duration {
    match failure {
        AttemptFailure::HttpStatus(429 | 502 | 504) | AttemptFailure::Timeout => {
            schedule.scaled(OVERLOADED_PAUSE_MIN)
        }
        _ => Duration::ZERO,
    }
}

/// What a receiver asks for, as far as it may stretch the schedule.
fn honoured(asked: Duration, pause: Duration) -> Duration {
    asked.min(pause.saturating_mul(2).max(ASKED_MAX_AT_LEAST)).min(ASKED_MAX)
}

impl RetryAfter {
    fn from(self, now: Timestamp) -> Duration {
        match self {
            Self::At(instant) => instant.since(now),
            Self::Span(span) => span,
        }
    }
}

const GONE: u16 = 410;

/// By the contract's schedule; a shorter one shortens it.
const OVERLOADED_PAUSE_MIN: Duration = Duration::from_mins(1);

/// A receiver may ask for twice the pause, and for an hour however short the pause is,
const ASKED_MAX_AT_LEAST: Duration = Duration::from_hours(1);
/// but never for more than this.
const ASKED_MAX: Duration = Duration::from_hours(24);

#[cfg(test)]
mod tests {
    use super::*;

    const AT: Timestamp = Timestamp::from_millis(1_767_225_600_000);

    fn failed(failure: AttemptFailure, retry_after: Option<RetryAfter>) -> Attempted {
        Attempted { retry_after, ..Attempted::failed(failure) }
    }

    fn pause(schedule: &str, attempts: u32, attempted: &Attempted, jitter: u32) -> Duration {
        match outcome(&schedule.parse().unwrap(), attempts, attempted, AT, || jitter) {
            Outcome::Retry { due_at, .. } => due_at.since(AT),
            other => panic!("{other:?}"),
        }
    }

    const CONTRACT: &str = "5s,5m,30m,2h,5h,10h,14h,20h,24h";

    #[test]
    fn a_receiver_that_seems_overloaded_is_granted_a_minute() {
        use AttemptFailure as F;
        for failure in [F::HttpStatus(429), F::HttpStatus(502), F::HttpStatus(504), F::Timeout] {
            let failed = failed(failure, None);
            assert_eq!(pause(CONTRACT, 1, &failed, 0), Duration::from_mins(1), "{failure:?}");
            assert_eq!(pause(CONTRACT, 1, &failed, u32::MAX), Duration::from_secs(72));
            assert_eq!(pause(CONTRACT, 2, &failed, 0), Duration::from_mins(5));
            assert_eq!(pause("500ms,1m", 1, &failed, 0), Duration::from_secs(6));
        }
        for failure in [F::HttpStatus(500), F::HttpStatus(503), F::Connect, F::Dns, F::Protocol] {
            let failed = failed(failure, None);
            assert_eq!(pause(CONTRACT, 1, &failed, 0), Duration::from_secs(5), "{failure:?}");
        }
    }

    #[test]
    fn what_a_receiver_asks_for_is_honoured_within_bounds() {
        let asked = |span_s| Some(RetryAfter::Span(Duration::from_secs(span_s)));
        for (schedule, attempts, asked_s, granted_s) in [
            (CONTRACT, 1, 90, 90),
            (CONTRACT, 1, 0, 5),
            (CONTRACT, 2, 90, 300),
            (CONTRACT, 1, 3600, 3600),
            (CONTRACT, 1, 3601, 3600),
            (CONTRACT, 1, u64::MAX, 3600),
            (CONTRACT, 5, 1_000_000, 36_000),
            (CONTRACT, 8, 1_000_000, 86_400),
            ("3d", 1, 1, 259_200),
            ("3d", 1, 1_000_000, 259_200),
        ] {
            let failed = failed(AttemptFailure::HttpStatus(503), asked(asked_s));
            let granted = pause(schedule, attempts, &failed, 0);
            assert_eq!(granted, Duration::from_secs(granted_s), "{schedule} {attempts} {asked_s}");
        }
    }

    #[test]
    fn a_date_is_counted_from_the_end_of_the_attempt() {
        let at = |span| Some(RetryAfter::At(AT.plus(span)));
        let failed = |after| failed(AttemptFailure::HttpStatus(503), after);
        assert_eq!(
            pause(CONTRACT, 1, &failed(at(Duration::from_secs(77))), 0),
            Duration::from_secs(77)
        );
        let past = Some(RetryAfter::At(AT.minus(Duration::from_secs(77))));
        assert_eq!(pause(CONTRACT, 1, &failed(past), 0), Duration::from_secs(5));
    }

    #[test]
    fn whoever_is_gone_or_will_not_have_it_is_not_tried_again() {
        let schedule = RetrySchedule::default();
        let ends =
            |attempted: &Attempted, attempts| outcome(&schedule, attempts, attempted, AT, || 0);
        assert_eq!(ends(&failed(AttemptFailure::HttpStatus(410), None), 1), Outcome::Gone);
        assert_eq!(ends(&failed(AttemptFailure::HttpStatus(410), None), 10), Outcome::Gone);
        let refused = AttemptFailure::HttpStatus(400);
        let aborted = Attempted { is_aborted: true, ..Attempted::failed(refused) };
        assert_eq!(ends(&aborted, 1), Outcome::Exhausted(refused));
        assert_eq!(ends(&failed(refused, None), 10), Outcome::Exhausted(refused));
    }
}
