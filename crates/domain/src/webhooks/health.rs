//! The health of a webhook, and the rule that disables a webhook if its attempts fail for too long. This code does no
//! I/O: the database crate locks and reads the health, applies the attempts of a batch, and writes the health back.

use std::time::Duration;

use crate::{DisabledReason, LastFailure, Timestamp, WebhookStatus};

/// The health of a webhook: its status, and its newest success and failures.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WebhookHealth {
    /// Enabled or disabled. A disabled webhook gets no events.
    pub status: WebhookStatus,
    /// The reason why the service disabled the webhook. `None` if the webhook is enabled, or if an operator disabled
    /// it.
    pub disabled_reason: Option<DisabledReason>,
    /// Time of the first failed attempt since the last success, or since the webhook was enabled. `None` if no attempt
    /// has failed since then.
    pub failing_since: Option<Timestamp>,
    /// Time of the newest successful attempt. `None` before the first success.
    pub last_success_at: Option<Timestamp>,
    /// The newest failed attempt. `None` if no attempt has ever failed.
    pub last_failure: Option<LastFailure>,
    /// Number of failed attempts since `failing_since`.
    pub failed_attempts: u64,
    /// Time at which the other webhooks of the account were informed that this webhook fails. `None` if that has not
    /// happened since the last success.
    pub failing_announced_at: Option<Timestamp>,
}

/// The changes in the health of a webhook that a batch of attempts causes. Each change is reported once.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct HealthChange {
    /// The reason if the batch disabled the webhook.
    pub disabled: Option<DisabledReason>,
    /// The time of the first failure, if the other webhooks of the account must be informed that this webhook fails.
    pub failing_since: Option<Timestamp>,
}

/// One finished attempt to deliver an event to a webhook.
#[derive(Debug, Clone, Copy)]
pub struct AttemptSummary<'a> {
    /// Time at which the attempt ended.
    pub at: Timestamp,
    /// Class of the failure. `None` for a success.
    pub failure: Option<&'static str>,
    /// The reason of the failure. `None` if the class is the whole reason.
    pub error_detail: Option<&'a str>,
    /// True if the receiver responded with status 410 (Gone).
    pub is_gone: bool,
}

impl WebhookHealth {
    /// Applies a batch of attempts at the webhook, in any order, to the health. Returns the changes that these attempts
    /// cause. Disables the webhook if the receiver responded with status 410, or if all attempts have failed for at
    /// least `failing_max`.
    ///
    /// Batches arrive in any order, so a recorded time can be later than these attempts. A time more than five minutes
    /// after all of them came from a wrong clock, and is removed.
    pub fn update(
        &mut self,
        attempts: &[AttemptSummary<'_>],
        failing_max: Duration,
    ) -> HealthChange {
        self.forget_wrong_times(attempts);
        let successes = attempts.iter().filter(|ended| ended.failure.is_none());
        let mut failures = attempts.iter().filter(|ended| ended.failure.is_some());
        let success_at = successes.map(|ended| ended.at).max();
        let has_succeeded = success_at > self.last_success_at;
        self.last_success_at = self.last_success_at.max(success_at);
        if self.failing_since <= self.last_success_at {
            self.failing_since = None;
            self.failed_attempts = 0;
            if has_succeeded {
                self.failing_announced_at = None;
            }
        }
        let newest = failures.clone().max_by_key(|ended| ended.at);
        let newest =
            newest.filter(|it| self.last_failure.as_ref().is_none_or(|last| last.at <= it.at));
        if let Some(&AttemptSummary { at, failure: Some(error), error_detail, .. }) = newest {
            let (error, error_detail) = (error.to_owned(), error_detail.map(str::to_owned));
            self.last_failure = Some(LastFailure { at, error, error_detail });
        }
        let failed_at = failures.clone().map(|ended| ended.at);
        let failed_at = failed_at.filter(|at| Some(*at) > self.last_success_at);
        self.failed_attempts += u64::try_from(failed_at.clone().count()).unwrap_or(u64::MAX);
        self.failing_since = self.failing_since.or(failed_at.min());
        if self.status == WebhookStatus::Disabled {
            return HealthChange::default();
        }
        let is_due =
            self.failing_announced_at.is_none() && self.failed_attempts >= ANNOUNCED_ATTEMPTS_MIN;
        let failing_since = self.failing_for(ANNOUNCED_AFTER).filter(|_since| is_due);
        if failing_since.is_some() {
            self.failing_announced_at = self.last_failure.as_ref().map(|last| last.at);
        }
        let disabled = if failures.any(|ended| ended.is_gone) {
            Some(DisabledReason::Gone)
        } else {
            self.failing_for(failing_max).map(|_since| DisabledReason::Failing)
        };
        if disabled.is_some() {
            (self.status, self.disabled_reason) = (WebhookStatus::Disabled, disabled);
        }
        HealthChange { disabled, failing_since }
    }

    /// Removes recorded times that are more than [`AHEAD_MAX`] after all these attempts, because a wrong clock has
    /// recorded them.
    fn forget_wrong_times(&mut self, attempts: &[AttemptSummary<'_>]) {
        let Some(newest) = attempts.iter().map(|ended| ended.at).max() else { return };
        let is_possible = |at: &Timestamp| *at <= newest.plus(AHEAD_MAX);
        self.last_success_at = self.last_success_at.filter(is_possible);
        self.last_failure = self.last_failure.take().filter(|last| is_possible(&last.at));
        self.failing_since = self.failing_since.filter(is_possible);
        if self.failing_since.is_none() {
            self.failed_attempts = 0;
        }
    }

    /// Returns the time of the first failure if all attempts have failed for at least `time`: from the first to the
    /// newest failure. The time since the newest failure is not included, because no attempt was made.
    fn failing_for(&self, time: Duration) -> Option<Timestamp> {
        let (since, last) = (self.failing_since?, self.last_failure.as_ref()?);
        (last.at.since(since) >= time).then_some(since)
    }
}

/// Maximum time by which a recorded time may be later than the newest attempt of a batch: clocks of nodes differ, and
/// batches arrive in any order. An even later time came from a wrong clock.
const AHEAD_MAX: Duration = Duration::from_mins(5);
/// Time for which all attempts must have failed before the other webhooks of the account are informed.
const ANNOUNCED_AFTER: Duration = Duration::from_hours(1);
/// Number of attempts that must have failed before the other webhooks of the account are informed.
const ANNOUNCED_ATTEMPTS_MIN: u64 = 10;

#[cfg(test)]
mod tests {
    use super::*;

    const MAX: Duration = Duration::from_millis(100);

    fn fresh() -> WebhookHealth {
        WebhookHealth {
            status: WebhookStatus::Enabled,
            disabled_reason: None,
            failing_since: None,
            last_success_at: None,
            last_failure: None,
            failed_attempts: 0,
            failing_announced_at: None,
        }
    }

    fn at(millis: i64) -> Timestamp {
        Timestamp::from_millis(millis)
    }

    fn failed(millis: i64) -> AttemptSummary<'static> {
        let (at, failure) = (at(millis), Some("dns"));
        AttemptSummary { at, failure, error_detail: None, is_gone: false }
    }

    fn succeeded(millis: i64) -> AttemptSummary<'static> {
        AttemptSummary { at: at(millis), failure: None, error_detail: None, is_gone: false }
    }

    /// Returns whether the attempts disable the webhook.
    fn update(health: &mut WebhookHealth, attempts: &[AttemptSummary<'_>]) -> bool {
        health.update(attempts, MAX).disabled.is_some()
    }

    /// Returns whether the attempts announce that the webhook fails.
    fn announces(health: &mut WebhookHealth, attempts: &[AttemptSummary<'_>]) -> bool {
        health.update(attempts, Duration::MAX).failing_since.is_some()
    }

    const HOUR: i64 = 3_600_000;

    #[test]
    fn failures_are_announced_once_until_the_next_success() {
        let mut health = fresh();
        assert!(!announces(&mut health, &[failed(0); 20]), "an hour has not passed");
        assert!(!announces(&mut health, &[failed(HOUR - 1)]));
        assert!(announces(&mut health, &[failed(HOUR)]));
        assert!(!announces(&mut health, &[failed(HOUR + 1)]));
        health.failing_since = None;
        health.failed_attempts = 0;
        assert!(!announces(&mut health, &[failed(2 * HOUR), failed(4 * HOUR)]), "enabled again");
        assert!(!announces(&mut health, &[succeeded(5 * HOUR)]));
        assert!(!announces(&mut health, &[failed(6 * HOUR); 9]));
        assert!(announces(&mut health, &[failed(8 * HOUR)]), "the tenth failure");
    }

    #[test]
    fn less_than_ten_failures_are_not_announced() {
        let mut health = fresh();
        assert!(!announces(&mut health, &[failed(0); 8]));
        assert!(!announces(&mut health, &[failed(9 * HOUR)]));
        assert!(announces(&mut health, &[failed(9 * HOUR)]));
    }

    #[test]
    fn a_long_series_of_failures_disables_with_the_reason() {
        let mut health = fresh();
        assert!(!update(&mut health, &[failed(20), failed(10)]));
        assert_eq!(health.failing_since, Some(at(10)));
        assert!(!update(&mut health, &[failed(109)]));
        assert!(update(&mut health, &[failed(110)]));
        assert_eq!(health.status, WebhookStatus::Disabled);
        assert_eq!(health.disabled_reason, Some(DisabledReason::Failing));
        assert!(!update(&mut health, &[failed(111)]), "the change is reported once");
    }

    #[test]
    fn a_success_restarts_the_series_of_failures() {
        for batches in [
            &[&[failed(10)][..], &[succeeded(50)], &[failed(60)], &[failed(120)]][..],
            &[&[failed(10), succeeded(50), failed(60)], &[failed(120)]],
            &[&[failed(120), failed(60), succeeded(50), failed(10)]],
        ] {
            let mut health = fresh();
            assert!(batches.iter().all(|batch| !update(&mut health, batch)), "{batches:?}");
            assert_eq!(health.failing_since, Some(at(60)));
            assert!(update(&mut health, &[failed(160)]));
        }
    }

    #[test]
    fn a_late_report_changes_nothing_newer() {
        let mut health = fresh();
        update(&mut health, &[succeeded(50), failed(60)]);
        assert!(!update(&mut health, &[failed(-100), failed(40), succeeded(30)]));
        assert_eq!((health.failing_since, health.last_success_at), (Some(at(60)), Some(at(50))));
        assert_eq!(health.last_failure.map(|last| last.at), Some(at(60)));
    }

    #[test]
    fn times_of_a_wrong_clock_do_not_count() {
        let mut health = fresh();
        update(&mut health, &[failed(9 * HOUR)]);
        assert!(!update(&mut health, &[failed(10)]), "the newest failure was ahead");
        assert_eq!((health.failing_since, health.failed_attempts), (Some(at(10)), 1));
        let mut health = fresh();
        update(&mut health, &[failed(9 * HOUR)]);
        update(&mut health, &[succeeded(20)]);
        assert_eq!((health.failing_since, health.failed_attempts), (None, 0));
        update(&mut health, &[succeeded(9 * HOUR)]);
        assert!(update(&mut health, &[failed(30), failed(130)]), "the newest success was ahead");
        assert_eq!(health.last_success_at, None);
    }

    #[test]
    fn one_410_response_disables_at_once() {
        let mut health = fresh();
        let gone = AttemptSummary { failure: Some("http_status"), is_gone: true, ..failed(7) };
        assert!(update(&mut health, &[succeeded(8), gone]));
        assert_eq!(health.disabled_reason, Some(DisabledReason::Gone));
    }
}
