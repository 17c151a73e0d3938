//! How a webhook fares: what its attempts came to, and when that ends it. Pure: the store reads it locked, lets it
//! update the news of a batch, and writes it back.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Serialize;

use crate::{LastFailure, Timestamp, WebhookStatus};

/// Why a webhook is disabled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, JsonSchema, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum DisabledReason {
    /// It has met nothing but failures for too long.
    Failing,
    /// Its receiver answered 410.
    Gone,
}

impl DisabledReason {
    /// The reason's name in JSON and SQL.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Failing => "failing",
            Self::Gone => "gone",
        }
    }

    /// The reason of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Failing, Self::Gone].into_iter().find(|reason| reason.as_str() == name)
    }
}

/// How a webhook fares.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WebhookHealth {
    /// Whether notices are sent.
    pub status: WebhookStatus,
    /// Why not, where the service decided so.
    pub disabled_reason: Option<DisabledReason>,
    /// When the first failure since the last success, or since it was enabled, ended.
    pub failing_since: Option<Timestamp>,
    /// When the newest successful attempt ended.
    pub last_success_at: Option<Timestamp>,
    /// The newest failed attempt.
    pub last_failure: Option<LastFailure>,
}

/// What the attempts of a batch came to, for one webhook.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HealthReport {
    success_at: Option<Timestamp>,
    failure: Option<LastFailure>,
    /// The first failure that no success followed.
    failing_from: Option<Timestamp>,
    is_gone: bool,
}

/// One attempt that ended.
#[derive(Debug, Clone, Copy)]
pub struct AttemptSummary {
    /// When.
    pub at: Timestamp,
    /// The class of what went wrong; `None` where it succeeded.
    pub failure: Option<&'static str>,
    /// Whether the receiver answered 410.
    pub is_gone: bool,
}

impl HealthReport {
    /// What these attempts came to, whatever their order.
    pub fn of(attempts: &[AttemptSummary]) -> Self {
        let (successes, failures) =
            attempts.iter().partition::<Vec<&AttemptSummary>, _>(|ended| ended.failure.is_none());
        let success_at = successes.iter().map(|ended| ended.at).max();
        let newest = failures.iter().max_by_key(|ended| ended.at);
        Self {
            success_at,
            failure: newest.and_then(|ended| {
                ended.failure.map(|error| LastFailure { at: ended.at, error: error.to_owned() })
            }),
            failing_from: failures.iter().map(|it| it.at).filter(|at| Some(*at) > success_at).min(),
            is_gone: failures.iter().any(|ended| ended.is_gone),
        }
    }
}

impl WebhookHealth {
    /// Takes news in, also such as come late; `true` where they disable the webhook.
    pub fn update(&mut self, news: &HealthReport, failing_max: Duration) -> bool {
        self.last_success_at = self.last_success_at.max(news.success_at);
        if self.failing_since <= self.last_success_at {
            self.failing_since = None;
        }
        if let Some(failure) = &news.failure
            && self.last_failure.as_ref().is_none_or(|last| last.at <= failure.at)
        {
            self.last_failure = Some(failure.clone());
        }
        let failing_from = news.failing_from.filter(|at| Some(*at) > self.last_success_at);
        self.failing_since = self.failing_since.or(failing_from);
        let reason =
            if news.is_gone { Some(DisabledReason::Gone) } else { self.fails(failing_max) };
        if reason.is_none() || self.status == WebhookStatus::Disabled {
            return false;
        }
        (self.status, self.disabled_reason) = (WebhookStatus::Disabled, reason);
        true
    }

    /// Counted from failure to failure, so that time without attempts ends nothing.
    fn fails(&self, failing_max: Duration) -> Option<DisabledReason> {
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

    fn failed(millis: i64) -> AttemptSummary {
        AttemptSummary { at: at(millis), failure: Some("dns"), is_gone: false }
    }

    fn succeeded(millis: i64) -> AttemptSummary {
        AttemptSummary { at: at(millis), failure: None, is_gone: false }
    }

    fn update(health: &mut WebhookHealth, attempts: &[AttemptSummary]) -> bool {
        health.update(&HealthReport::of(attempts), MAX)
    }

    #[test]
    fn nothing_but_failures_for_so_long_disables_and_says_why() {
        let mut health = fresh();
        assert!(!update(&mut health, &[failed(20), failed(10)]));
        assert_eq!(health.failing_since, Some(at(10)));
        assert!(!update(&mut health, &[failed(109)]));
        assert!(update(&mut health, &[failed(110)]));
        assert_eq!(health.status, WebhookStatus::Disabled);
        assert_eq!(health.disabled_reason, Some(DisabledReason::Failing));
        assert!(!update(&mut health, &[failed(111)]), "it is told once");
    }

    #[test]
    fn a_success_between_two_failures_begins_anew() {
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
    fn what_comes_late_changes_nothing_newer() {
        let mut health = fresh();
        update(&mut health, &[succeeded(50), failed(60)]);
        assert!(!update(&mut health, &[failed(-100), failed(40), succeeded(30)]));
        assert_eq!((health.failing_since, health.last_success_at), (Some(at(60)), Some(at(50))));
        assert_eq!(health.last_failure.map(|last| last.at), Some(at(60)));
    }

    #[test]
    fn one_410_disables_at_once() {
        let mut health = fresh();
        let gone = AttemptSummary { at: at(7), failure: Some("http_status"), is_gone: true };
        assert!(update(&mut health, &[succeeded(8), gone]));
        assert_eq!(health.disabled_reason, Some(DisabledReason::Gone));
    }
}
