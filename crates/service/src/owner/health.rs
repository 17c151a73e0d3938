//! The health of an account's webhooks: the recent delivery attempts at each webhook, and the webhooks that need
//! attention.

use std::time::Duration;

use sealpost_domain::{
    ApiKeyId, AttemptTiming, Refusal, Timestamp, Webhook, WebhookId,
    ports::{OpenRelay, StoreError, WebhookOwner},
};
use sealpost_storage::Reader;

use super::{NO_KEY, Owner, views::Truncated};
use crate::{
    error::Error,
    webhooks::view::{WebhookView, view, views},
};

/// A webhook, with its attempts in the last 24 hours.
pub struct WebhookReport {
    /// The webhook.
    pub webhook: WebhookView,
    /// Time until which a replaced signing secret also signs. `None` if only the current secret signs.
    pub retiring_until: Option<Timestamp>,
    /// The attempts at the webhook in the last 24 hours.
    pub recent: RecentAttempts,
    /// The connections of the webhook, oldest first, if it is a relay (its receiver connects to the service). Otherwise
    /// empty.
    pub relays: Vec<ConnectedRelay>,
}

/// A connection of a relay. A relay is a webhook whose receiver opens connections to the service.
pub struct ConnectedRelay {
    /// The connection.
    pub open: OpenRelay,
    /// Number of deliveries to which the relay has not responded yet. `None` if another node holds the connection.
    pub in_flight: Option<usize>,
}

/// The attempts at a webhook in the last 24 hours.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecentAttempts {
    /// Start of the period. The period is shorter than 24 hours if `is_truncated`.
    pub since: Timestamp,
    /// End of the period: the time at which the attempts were read.
    pub until: Timestamp,
    /// Number of attempts.
    pub attempts: u32,
    /// Number of successful attempts.
    pub succeeded: u32,
    /// The duration in milliseconds that 95 % of the responses did not exceed. `None` without responses.
    pub p95_ms: Option<u32>,
    /// True if older attempts of the last 24 hours may be missing, because the maximum number of attempts was read. The
    /// period then starts at the oldest attempt that was read.
    pub is_truncated: bool,
    /// The attempts in each of 24 equal parts of the period, oldest first.
    pub parts: [AttemptCount; 24],
}

/// The attempts in a part of a period.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct AttemptCount {
    /// Number of successful attempts.
    pub succeeded: u32,
    /// Number of failed attempts.
    pub failed: u32,
}

impl Owner<'_> {
    /// Returns the webhooks of a key, oldest first, each with its recent attempts.
    pub async fn webhooks(&self, key: &ApiKeyId) -> Result<Vec<WebhookReport>, Error> {
        let key = *key;
        self.read(move |_core, reader, account, now| {
            reader.key_of(&account, &key, now, 0)?.ok_or(NO_KEY)?;
            let webhooks = reader.list_webhooks(&key)?;
            let report = |webhook| report(reader, webhook, now);
            Ok(webhooks.into_iter().map(report).collect::<Result<_, _>>()?)
        })
        .await
    }

    /// Returns one webhook of a key, with its recent attempts, and with its connections if it is a relay. Refuses an
    /// unknown key or webhook.
    pub async fn webhook(&self, key: &ApiKeyId, webhook: &str) -> Result<WebhookReport, Error> {
        let (key, webhook) = (*key, webhook.parse::<WebhookId>());
        self.read(move |core, reader, account, now| {
            reader.key_of(&account, &key, now, 0)?.ok_or(NO_KEY)?;
            let webhooks = reader.list_webhooks(&key)?;
            let found = webhooks.into_iter().find(|it| Ok(it.id) == webhook);
            let mut report = report(reader, found.ok_or(Refusal::WebhookNotFound)?, now)?;
            if report.webhook.connected.is_some() {
                let id = &report.webhook.webhook_id;
                let in_flight = |id| core.dispatch.relays().unanswered(id);
                let connected =
                    |open: OpenRelay| ConnectedRelay { in_flight: in_flight(open.id), open };
                let now = reader.shared_time(now)?;
                report.relays = reader.relays_of(id, now)?.into_iter().map(connected).collect();
            }
            Ok(report)
        })
        .await
    }

    /// Lists the account's webhooks, newest first. At most 200.
    pub async fn account_webhooks(&self) -> Result<Truncated<WebhookView>, Error> {
        self.read(|_core, reader, account, now| {
            let owner = WebhookOwner::Account(account);
            let webhooks = reader.webhooks(&owner, None, WEBHOOKS_MAX + 1)?;
            Ok(Truncated::new(views(reader, webhooks, now)?.into_iter(), WEBHOOKS_MAX))
        })
        .await
    }

    /// Lists the account's webhooks that are disabled, or failed at their newest attempts. At most 50.
    pub async fn unhealthy_webhooks(&self) -> Result<Truncated<WebhookView>, Error> {
        self.read(|_core, reader, account, now| {
            let webhooks = reader.unhealthy_webhooks(&account, UNHEALTHY_MAX + 1)?;
            Ok(Truncated::new(views(reader, webhooks, now)?.into_iter(), UNHEALTHY_MAX))
        })
        .await
    }
}

impl RecentAttempts {
    /// Returns the share of successful attempts in percent, rounded down. `None` without attempts.
    pub fn success_percent(&self) -> Option<u32> {
        let share = (u64::from(self.succeeded) * 100).checked_div(self.attempts.into())?;
        u32::try_from(share).ok()
    }

    /// Summarises attempts, which must be sorted newest first. `max` is the maximum number of attempts that were read.
    fn new(attempts: &[AttemptTiming], now: Timestamp, max: usize) -> Self {
        let is_truncated = attempts.len() >= max;
        let oldest = attempts.last().filter(|_| is_truncated).map(|oldest| oldest.at);
        let since = oldest.unwrap_or_else(|| now.minus(PERIOD));
        let mut parts = [AttemptCount::default(); 24];
        let number = u128::try_from(parts.len()).unwrap_or(1);
        let length = now.since(since).as_millis().max(1);
        for attempt in attempts {
            let part = attempt.at.since(since).as_millis() * number / length;
            let part = usize::try_from(part).unwrap_or(usize::MAX).min(parts.len() - 1);
            if let Some(part) = parts.get_mut(part) {
                let count = if attempt.is_success { &mut part.succeeded } else { &mut part.failed };
                *count += 1;
            }
        }
        let sum = |count: fn(&AttemptCount) -> u32| parts.iter().map(count).sum::<u32>();
        let succeeded = sum(|part| part.succeeded);
        let attempts_made = succeeded + sum(|part| part.failed);
        let answered = attempts.iter().filter(|attempt| attempt.has_response);
        let mut durations: Vec<_> = answered.map(|attempt| attempt.duration_ms).collect();
        durations.sort_unstable();
        let p95_ms = percentile(&durations, 95);
        Self { since, until: now, attempts: attempts_made, succeeded, p95_ms, is_truncated, parts }
    }
}

fn report(
    reader: &mut Reader,
    webhook: Webhook,
    now: Timestamp,
) -> Result<WebhookReport, StoreError> {
    let attempts = reader.recent_attempts(&webhook.id, now.minus(PERIOD), RECENT_MAX)?;
    let retiring_until = webhook.retiring.iter().map(|secret| secret.until).max();
    let retiring_until = retiring_until.filter(|until| *until > now);
    let webhook = view(reader, webhook, now)?;
    let max = usize::try_from(RECENT_MAX).unwrap_or(usize::MAX);
    let recent = RecentAttempts::new(&attempts, now, max);
    Ok(WebhookReport { webhook, retiring_until, recent, relays: Vec::new() })
}

/// Returns the smallest duration that at least `percent` of the durations do not exceed. The durations must be sorted.
/// Returns `None` if there are no durations.
pub(super) fn percentile(durations: &[u32], percent: usize) -> Option<u32> {
    let rank = (durations.len() * percent).div_ceil(100);
    durations.get(rank.checked_sub(1)?).copied()
}

const PERIOD: Duration = Duration::from_hours(24);
/// Maximum number of attempts that a page reads for each webhook.
const RECENT_MAX: u32 = 500;
const UNHEALTHY_MAX: u32 = 50;
const WEBHOOKS_MAX: u32 = 200;

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: i64 = 3_600_000;
    const NOW: Timestamp = Timestamp::from_millis(100 * HOUR);

    fn attempt(hours_ago: i64, duration_ms: u32, is_success: bool) -> AttemptTiming {
        let at = Timestamp::from_millis(NOW.as_millis() - hours_ago * HOUR);
        AttemptTiming { at, duration_ms, is_success, has_response: is_success }
    }

    #[test]
    fn attempts_are_counted_by_the_hour() {
        let attempts = [attempt(0, 9, true), attempt(1, 8, false), attempt(24, 7, true)];
        let recent = RecentAttempts::new(&attempts, NOW, 9);
        assert_eq!((recent.attempts, recent.succeeded, recent.success_percent()), (3, 2, Some(66)));
        assert_eq!((recent.since, recent.is_truncated), (NOW.minus(PERIOD), false));
        let counts = [0, 23].map(|hour| (recent.parts[hour].succeeded, recent.parts[hour].failed));
        assert_eq!(counts, [(1, 0), (1, 1)]);
        let none = RecentAttempts::new(&[], NOW, 9);
        assert_eq!((none.success_percent(), none.p95_ms), (None, None));
        let refused = RecentAttempts::new(&[attempt(0, 9, false)], NOW, 9);
        assert_eq!((refused.success_percent(), refused.p95_ms), (Some(0), None));
    }

    #[test]
    fn the_period_of_a_truncated_list_starts_at_its_oldest_attempt() {
        let recent = RecentAttempts::new(&[attempt(0, 9, true), attempt(1, 8, true)], NOW, 2);
        assert!(recent.is_truncated);
        assert_eq!(recent.since.as_millis(), 99 * HOUR);
        assert_eq!((recent.parts[0].succeeded, recent.parts[23].succeeded), (1, 1));
        let at_once = RecentAttempts::new(&[attempt(0, 9, false); 2], NOW, 2);
        assert_eq!(at_once.parts[0].failed, 2);
    }

    #[test]
    fn a_percentile_covers_its_share_of_the_durations() {
        let durations: Vec<_> = (1..=100).collect();
        assert_eq!([50, 95].map(|percent| percentile(&durations, percent)), [Some(50), Some(95)]);
        assert_eq!(percentile(&[7], 95), Some(7));
        assert_eq!(percentile(&durations[..20], 95), Some(19));
        assert_eq!(percentile(&[], 95), None);
    }
}
