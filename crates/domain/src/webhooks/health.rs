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
}

/// Summary of a batch of attempts at one webhook. The summary is applied to the health of the webhook.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HealthReport {
    success_at: Option<Timestamp>,
    failure: Option<LastFailure>,
    /// Time of the first failed attempt after the newest success in the batch. `None` if there is no such attempt.
    failing_from: Option<Timestamp>,
    is_gone: bool,
}

/// One finished attempt to deliver an event to a webhook.
#[derive(Debug, Clone, Copy)]
pub struct AttemptSummary<'a> {
    /// Time at which the attempt ended.
    pub at: Timestamp,
    /// Class of the failure. `None` for a success.
    pub failure: Option<&'static str>,
    /// The reason of the failure. `None` if its class says all.
    pub error_detail: Option<&'a str>,
    /// True if the receiver responded with status 410 (Gone).
    pub is_gone: bool,
}

impl HealthReport {
    /// Summarises a batch of attempts at one webhook, in any order.
    pub fn of(attempts: &[AttemptSummary<'_>]) -> Self {
        let (successes, failures) = attempts
            .iter()
            .partition::<Vec<&AttemptSummary<'_>>, _>(|ended| ended.failure.is_none());
        let success_at = successes.iter().map(|ended| ended.at).max();
        let newest = failures.iter().max_by_key(|ended| ended.at);
        Self {
            success_at,
            failure: newest.and_then(|ended| {
                ended.failure.map(|error| LastFailure {
                    at: ended.at,
                    error: error.to_owned(),
                    error_detail: ended.error_detail.map(str::to_owned),
                })
            }),
            failing_from: failures.iter().map(|it| it.at).filter(|at| Some(*at) > success_at).min(),
            is_gone: failures.iter().any(|ended| ended.is_gone),
        }
    }
}

impl WebhookHealth {
    /// Applies a summary of attempts to the health. Summaries may arrive in any order, so a recorded success or failure
    /// stays if it is newer than the summary. Returns `true` if these attempts disable the webhook.
    pub fn update(&mut self, report: &HealthReport, failing_max: Duration) -> bool {
        self.last_success_at = self.last_success_at.max(report.success_at);
        if self.failing_since <= self.last_success_at {
            self.failing_since = None;
        }
        if let Some(failure) = &report.failure
            && self.last_failure.as_ref().is_none_or(|last| last.at <= failure.at)
        {
            self.last_failure = Some(failure.clone());
        }
        let failing_from = report.failing_from.filter(|at| Some(*at) > self.last_success_at);
        self.failing_since = self.failing_since.or(failing_from);
        let reason = if report.is_gone {
            Some(DisabledReason::Gone)
        } else {
            self.failing_too_long(failing_max)
        };
        if reason.is_none() || self.status == WebhookStatus::Disabled {
            return false;
        }
        (self.status, self.disabled_reason) = (WebhookStatus::Disabled, reason);
        true
    }

    /// Returns a reason to disable the webhook if all attempts failed for at least `failing_max`, measured from the
    /// first to the newest failure. Time after the newest failure does not count, because no attempt was made.
    fn failing_too_long(&self, failing_max: Duration) -> Option<DisabledReason> {
        let (since, last) = (self.failing_since?, self.last_failure.as_ref()?);
        (last.at.since(since) >= failing_max).then_some(DisabledReason::Failing)
    }
}

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

    fn update(health: &mut WebhookHealth, attempts: &[AttemptSummary<'_>]) -> bool {
        health.update(&HealthReport::of(attempts), MAX)
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
    fn one_410_response_disables_at_once() {
        let mut health = fresh();
        let gone = AttemptSummary { failure: Some("http_status"), is_gone: true, ..failed(7) };
        assert!(update(&mut health, &[succeeded(8), gone]));
        assert_eq!(health.disabled_reason, Some(DisabledReason::Gone));
    }
}
