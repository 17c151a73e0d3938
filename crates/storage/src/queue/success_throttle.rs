//! Limits how often successful attempts update the row of their webhook.

use std::collections::{HashMap, HashSet};

use quick_cache::sync::Cache;

use crate::rows::attempt::FinishedAttempt;

/// Limits updates of `last_success_at` to one per [`INTERVAL_MS`] for each webhook. The column can therefore be out of
/// date, so lists of webhooks read newer successes from the attempt log. The cache contains the times of recorded
/// successes in milliseconds since the Unix epoch.
///
/// Without the throttle, every batch of outcomes would lock and update its webhooks, in two more round trips. In
/// measurements, a batch of one outcome then took 35 % longer on PostgreSQL and 15 % longer on SQLite. On PostgreSQL,
/// each update also adds a version of the row, which every send to the webhook reads while a long transaction is open.
///
/// Every failure is recorded. The first success after a failure is recorded too, because it clears the failure. A node
/// cannot know a failure that another node has recorded. But a success at a retry shows that an attempt failed before,
/// so the shorter [`REPEATED_INTERVAL_MS`] applies to such a success.
#[derive(Debug)]
pub(crate) struct SuccessThrottle(Cache<String, i64>);

/// The newest success of a webhook in a batch of outcomes, for [`SuccessThrottle::committed`].
pub(crate) struct RecordedSuccess {
    webhook_id: String,
    /// Time of the success in milliseconds since the Unix epoch. `None` if an attempt for the webhook failed in the
    /// batch.
    at: Option<i64>,
}

impl SuccessThrottle {
    /// Creates an empty cache for the times of at most `webhooks_max` webhooks.
    pub(crate) fn new(webhooks_max: usize) -> Self {
        Self(Cache::new(webhooks_max))
    }

    /// Selects the attempts to write to the health columns of their webhooks. Also returns the successes to pass to
    /// [`committed`](SuccessThrottle::committed) after the commit.
    ///
    /// Omits the attempts of a webhook if all of them succeeded, and if the newest is less than the interval before or
    /// after the last recorded success. The newest attempt can be before that success if the clock was set back.
    pub(crate) fn filter<'a>(
        &self,
        attempts: &[&'a FinishedAttempt],
    ) -> (Vec<&'a FinishedAttempt>, Vec<RecordedSuccess>) {
        let mut newest = HashMap::<&str, Option<i64>>::new();
        for attempt in attempts {
            let at = newest.entry(&attempt.lease.key.webhook_id).or_insert(Some(i64::MIN));
            *at = at.filter(|_| attempt.failure.is_none()).map(|at| at.max(attempt.at));
        }
        let repeated = attempts.iter().filter(|attempt| attempt.attempts > 1);
        let repeated: HashSet<_> = repeated.map(|attempt| &*attempt.lease.key.webhook_id).collect();
        newest.retain(|id, at| {
            let interval = if repeated.contains(id) { REPEATED_INTERVAL_MS } else { INTERVAL_MS };
            let success = self.0.get(*id).zip(*at);
            success.is_none_or(|(recorded, at)| at.abs_diff(recorded) >= interval)
        });
        let is_relevant =
            |attempt: &&&FinishedAttempt| newest.contains_key(&*attempt.lease.key.webhook_id);
        let relevant = attempts.iter().filter(is_relevant).copied().collect();
        let successes = newest
            .into_iter()
            .map(|(id, at)| RecordedSuccess { webhook_id: id.to_owned(), at })
            .collect();
        (relevant, successes)
    }

    /// Caches the times of the successes that a committed transaction has written.
    pub(crate) fn committed(&self, successes: Vec<RecordedSuccess>) {
        for RecordedSuccess { webhook_id, at } in successes {
            match at {
                Some(at) => self.0.insert(webhook_id, at),
                None => drop(self.0.remove(&webhook_id)),
            }
        }
    }
}

/// Minimum time in milliseconds between two recorded successes of a webhook.
const INTERVAL_MS: u64 = 600_000;
/// Minimum time in milliseconds between two recorded successes of a webhook, if the newer success is a retry. This time
/// is shorter than the pauses of the default retry schedule. If the last recorded success is not older than this time,
/// it is newer than the failure before the retry, and has already cleared this failure.
const REPEATED_INTERVAL_MS: u64 = 1_000;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rows::delivery::{DeliveryKey, DeliveryLease};

    fn attempt(webhook: &str, at: i64, failure: Option<&'static str>) -> FinishedAttempt {
        let key = DeliveryKey { webhook_id: webhook.to_owned(), event_id: "env".to_owned() };
        FinishedAttempt {
            lease: DeliveryLease { key, lease: 1 },
            attempts: 1,
            at,
            duration_ms: 1,
            outcome: "succeeded",
            failure,
            status_code: None,
            excerpt: None,
            due_at: None,
            gone_url: None,
        }
    }

    /// Passes attempts through the throttle, and returns the number of attempts that it does not omit.
    fn record(throttle: &SuccessThrottle, attempts: &[FinishedAttempt]) -> usize {
        let (relevant, successes) = throttle.filter(&attempts.iter().collect::<Vec<_>>());
        throttle.committed(successes);
        relevant.len()
    }

    #[test]
    fn a_success_after_the_clock_was_set_back_is_recorded() {
        let throttle = SuccessThrottle::new(9);
        let day = 86_400_000;
        assert_eq!(record(&throttle, &[attempt("a", day, None)]), 1);
        assert_eq!(record(&throttle, &[attempt("a", day - 599_999, None)]), 0);
        assert_eq!(record(&throttle, &[attempt("a", 0, None)]), 1);
        assert_eq!(record(&throttle, &[attempt("a", 599_999, None)]), 0);
    }

    #[test]
    fn a_success_is_recorded_once_in_an_interval() {
        let throttle = SuccessThrottle::new(9);
        let first = [attempt("a", 0, None), attempt("a", 10, None), attempt("b", 500, None)];
        assert_eq!(record(&throttle, &first), 3);
        assert_eq!(
            record(&throttle, &[attempt("a", 600_009, None), attempt("b", 600_009, None)]),
            0
        );
        assert_eq!(
            record(&throttle, &[attempt("a", 600_010, None), attempt("b", 600_010, None)]),
            1
        );
    }

    #[test]
    fn a_failure_and_the_success_after_it_are_always_recorded() {
        let throttle = SuccessThrottle::new(9);
        record(&throttle, &[attempt("a", 0, None)]);
        assert_eq!(record(&throttle, &[attempt("a", 1, None), attempt("a", 2, Some("dns"))]), 2);
        assert_eq!(record(&throttle, &[attempt("a", 3, Some("dns"))]), 1);
        assert_eq!(record(&throttle, &[attempt("a", 4, None)]), 1);
        assert_eq!(record(&throttle, &[attempt("a", 5, None)]), 0);
    }

    #[test]
    fn the_success_of_a_repeated_attempt_is_recorded_sooner() {
        let throttle = SuccessThrottle::new(9);
        record(&throttle, &[attempt("a", 0, None)]);
        let repeated = |at| FinishedAttempt { attempts: 2, ..attempt("a", at, None) };
        assert_eq!(
            [record(&throttle, &[repeated(999)]), record(&throttle, &[repeated(1000)])],
            [0, 1]
        );
        assert_eq!(record(&throttle, &[attempt("a", 2000, None)]), 0);
    }

    #[test]
    fn many_webhooks_are_throttled_up_to_the_maximum() {
        let throttle = SuccessThrottle::new(1000);
        let webhooks: Vec<_> = (0..500).map(|n| attempt(&n.to_string(), 0, None)).collect();
        assert_eq!([record(&throttle, &webhooks), record(&throttle, &webhooks)], [500, 0]);
        let webhooks: Vec<_> = (0..5000).map(|n| attempt(&n.to_string(), 0, None)).collect();
        record(&throttle, &webhooks);
        assert!(u64::try_from(throttle.0.len()).unwrap() <= throttle.0.capacity());
        assert!(record(&throttle, &webhooks) < 5000, "a full cache keeps some webhooks");
    }
}
