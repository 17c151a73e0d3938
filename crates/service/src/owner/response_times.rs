//! The response times of a webhook on each of the last days.

use std::{collections::BTreeMap, time::Duration};

use sealpost_domain::{ApiKeyId, AttemptTiming, Refusal, Timestamp, WebhookId};

use super::{NO_KEY, Owner, health::percentile};
use crate::error::Error;

/// The response times of a webhook on each of the last days.
pub struct ResponseTimes {
    /// All days, oldest first. Includes days without responses.
    pub days: Vec<DayTimes>,
    /// True if the maximum number of attempts was read, so that earlier days may be incomplete.
    pub is_truncated: bool,
}

/// The times of the responses on one day.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DayTimes {
    /// Start of the UTC day.
    pub day: Timestamp,
    /// Number of responses that were read.
    pub responses: usize,
    /// The duration in milliseconds that half of the responses did not exceed. `None` without responses.
    pub p50_ms: Option<u32>,
    /// The duration in milliseconds that 95 % of the responses did not exceed. `None` without responses.
    pub p95_ms: Option<u32>,
}

impl ResponseTimes {
    /// Returns true if a response arrived on one of the days.
    pub fn has_responses(&self) -> bool {
        self.days.iter().any(|day| day.responses > 0)
    }
}

impl Owner<'_> {
    /// Returns the response times of a webhook on the last 14 days, from at most 5,000 attempts. Refuses an unknown key
    /// or webhook.
    pub async fn response_times(
        &self,
        key: &ApiKeyId,
        webhook: &str,
    ) -> Result<ResponseTimes, Error> {
        let (key, webhook) = (*key, webhook.parse::<WebhookId>());
        self.read(move |_core, reader, account, now| {
            reader.key_of(&account, &key, now, 0)?.ok_or(NO_KEY)?;
            let webhooks = reader.list_webhooks(&key)?;
            let found = webhooks.iter().find(|it| Ok(it.id) == webhook);
            let id = found.ok_or(Refusal::WebhookNotFound)?.id;
            let today = now.start_of_day();
            let attempts =
                reader.recent_attempts(&id, today.minus(DAY * (DAYS - 1)), ATTEMPTS_MAX)?;
            let is_truncated = attempts.len() >= usize::try_from(ATTEMPTS_MAX).unwrap_or(0);
            Ok(ResponseTimes { days: days_of(&attempts, today), is_truncated })
        })
        .await
    }
}

fn days_of(attempts: &[AttemptTiming], today: Timestamp) -> Vec<DayTimes> {
    let mut durations = BTreeMap::<Timestamp, Vec<u32>>::new();
    for attempt in attempts.iter().filter(|attempt| attempt.has_response) {
        durations.entry(attempt.at.start_of_day()).or_default().push(attempt.duration_ms);
    }
    let times = |days_ago| {
        let day = today.minus(DAY * days_ago);
        let mut durations = durations.remove(&day).unwrap_or_default();
        durations.sort_unstable();
        let (p50_ms, p95_ms) = (percentile(&durations, 50), percentile(&durations, 95));
        DayTimes { day, responses: durations.len(), p50_ms, p95_ms }
    };
    (0..DAYS).rev().map(times).collect()
}

const DAYS: u32 = 14;
const DAY: Duration = Duration::from_hours(24);
/// Maximum number of attempts that the page reads.
const ATTEMPTS_MAX: u32 = 5_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_day_has_its_own_percentiles() {
        let today = Timestamp::from_millis(0).plus(DAY * 100);
        let attempt = |ms, duration_ms| AttemptTiming {
            at: Timestamp::from_millis(today.as_millis() + ms),
            duration_ms,
            is_success: true,
            has_response: true,
        };
        let refused = AttemptTiming { has_response: false, is_success: false, ..attempt(6, 0) };
        let attempts = [refused, attempt(5, 30), attempt(4, 10), attempt(3, 20), attempt(-1, 7)];
        let days = days_of(&attempts, today);
        let seen = |day: &DayTimes| (day.responses, day.p50_ms, day.p95_ms);
        assert_eq!((days.len(), days[13].day), (14, today));
        assert_eq!(seen(&days[13]), (3, Some(20), Some(30)));
        assert_eq!(seen(&days[12]), (1, Some(7), Some(7)));
        assert_eq!(seen(&days[0]), (0, None, None));
    }
}
