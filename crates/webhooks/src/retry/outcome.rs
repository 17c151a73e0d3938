//! Decides the outcome of an attempt: success, a retry, or no further attempt. Reads neither clock nor random source:
//! callers pass the time and the random number.

use std::time::Duration;

use sealpost_domain::{AttemptFailure, Outcome, Timestamp};

use super::{
    attempt_report::AttemptReport,
    schedule::{RetrySchedule, with_jitter},
};

/// Decides the outcome of attempt number `attempts`, which ended at the time `at`. Calls `jitter` for a random number
/// only if the outcome is a retry.
pub(crate) fn decide(
    schedule: &RetrySchedule,
    attempts: u32,
    report: &AttemptReport,
    at: Timestamp,
    jitter: impl FnOnce() -> u32,
) -> Outcome {
    let failure = match report.result {
        Ok(()) => return Outcome::Succeeded,
        Err(AttemptFailure::HttpStatus(GONE)) => return Outcome::Gone,
        Err(failure) => failure,
    };
    match schedule.pause(attempts) {
        Some(pause) if !report.is_aborted => {
            let requested = report.retry_after.map_or(Duration::ZERO, |after| after.delay_from(at));
            let pause = pause.max(pause_min(schedule, failure)).max(bounded(requested, pause));
            Outcome::Retry { failure, due_at: at.plus(with_jitter(pause, jitter())) }
        }
        _ => Outcome::Exhausted(failure),
    }
}

/// Returns the minimum pause after a failure that may be caused by overload; zero for other failures.
fn pause_min(schedule: &RetrySchedule, failure: AttemptFailure) -> Duration {
    match failure {
        AttemptFailure::HttpStatus(429 | 502 | 504) | AttemptFailure::Timeout => {
            schedule.scaled(OVERLOAD_PAUSE_MIN)
        }
        _ => Duration::ZERO,
    }
}

/// Limits the delay that a receiver requested. The limit is twice the scheduled `pause`, but at least
/// [`REQUESTABLE_DELAY`] and at most [`REQUESTED_DELAY_MAX`].
fn bounded(requested: Duration, pause: Duration) -> Duration {
    requested.min(pause.saturating_mul(2).max(REQUESTABLE_DELAY)).min(REQUESTED_DELAY_MAX)
}

const GONE: u16 = 410;

/// Minimum pause after a failure that may be caused by overload. A retry schedule with a short first pause
/// [shortens](crate::RetrySchedule::scaled) it.
const OVERLOAD_PAUSE_MIN: Duration = Duration::from_mins(1);

/// Delay that a receiver may always request, even if the scheduled pause is short.
const REQUESTABLE_DELAY: Duration = Duration::from_hours(1);
const REQUESTED_DELAY_MAX: Duration = Duration::from_hours(24);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::retry::retry_after::RetryAfter;

    const AT: Timestamp = Timestamp::from_millis(1_767_225_600_000);

    fn failed(failure: AttemptFailure, retry_after: Option<RetryAfter>) -> AttemptReport {
        AttemptReport { retry_after, ..AttemptReport::failed(failure) }
    }

    fn pause(schedule: &str, attempts: u32, report: &AttemptReport, jitter: u32) -> Duration {
        match decide(&schedule.parse().unwrap(), attempts, report, AT, || jitter) {
            Outcome::Retry { due_at, .. } => due_at.since(AT),
            other => panic!("{other:?}"),
        }
    }

    const CONTRACT: &str = "5s,5m,30m,2h,5h,10h,14h,20h,24h";

    #[test]
    fn an_overloaded_receiver_gets_at_least_a_minute() {
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
    fn retry_after_is_honoured_within_bounds() {
        let asked = |delay_s| Some(RetryAfter::Delay(Duration::from_secs(delay_s)));
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
    fn a_date_counts_from_the_end_of_the_attempt() {
        let at = |span| Some(RetryAfter::Date(AT.plus(span)));
        let failed = |after| failed(AttemptFailure::HttpStatus(503), after);
        assert_eq!(
            pause(CONTRACT, 1, &failed(at(Duration::from_secs(77))), 0),
            Duration::from_secs(77)
        );
        let past = Some(RetryAfter::Date(AT.minus(Duration::from_secs(77))));
        assert_eq!(pause(CONTRACT, 1, &failed(past), 0), Duration::from_secs(5));
    }

    #[test]
    fn gone_aborted_and_exhausted_deliveries_get_no_retry() {
        let schedule = RetrySchedule::default();
        let outcome_of =
            |report: &AttemptReport, attempts| decide(&schedule, attempts, report, AT, || 0);
        assert_eq!(outcome_of(&failed(AttemptFailure::HttpStatus(410), None), 1), Outcome::Gone);
        assert_eq!(outcome_of(&failed(AttemptFailure::HttpStatus(410), None), 10), Outcome::Gone);
        let refused = AttemptFailure::HttpStatus(400);
        let aborted = AttemptReport { is_aborted: true, ..AttemptReport::failed(refused) };
        assert_eq!(outcome_of(&aborted, 1), Outcome::Exhausted(refused));
        assert_eq!(outcome_of(&failed(refused, None), 10), Outcome::Exhausted(refused));
    }
}
