//! Decides whether a node may keep using its keys, from the responses of the key provider.

use std::time::{Duration, Instant};

use sealpost_wallet::ProviderError;

use crate::settings::KeySettings;

/// The times from which a node decides whether it may keep its keys: of the last request to the key provider, and of
/// the first of consecutive failed requests.
pub(super) struct Recheck {
    every: Duration,
    grace: Duration,
    asked_at: Instant,
    /// `None` if the last request succeeded.
    failing_since: Option<Instant>,
}

impl Recheck {
    /// Creates the state as if the key provider had allowed the use of the keys at `now`, because it has just unwrapped
    /// the keys for this node.
    pub(super) fn new(settings: &KeySettings, now: Instant) -> Self {
        let KeySettings { recheck, grace, .. } = *settings;
        Self { every: recheck, grace, asked_at: now, failing_since: None }
    }

    /// Asks the key provider again if the interval since the last request has passed. Also asks at the end of the grace
    /// period, which begins with the first failed request and can be shorter than the interval. Returns false if the
    /// provider refuses, or if all requests of the grace period have failed.
    pub(super) fn may_continue(
        &mut self,
        now: Instant,
        ask: impl FnOnce() -> Result<(), ProviderError>,
    ) -> bool {
        let is_time = now.duration_since(self.asked_at) >= self.every
            || self.failing_since.is_some_and(|since| now.duration_since(since) >= self.grace);
        if !is_time {
            return true;
        }
        self.asked_at = now;
        match ask() {
            Ok(()) => {
                self.failing_since = None;
                true
            }
            Err(error @ ProviderError::Refused { .. }) => {
                tracing::error!(%error, "the key provider has withdrawn the keys");
                false
            }
            Err(error) => {
                let since = *self.failing_since.get_or_insert(now);
                let is_over = now.duration_since(since) >= self.grace;
                if is_over {
                    tracing::error!(%error, "the key provider was not reached within the grace period");
                } else {
                    tracing::warn!(%error, "the keys stay in use for the grace period");
                }
                !is_over
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unreachable() -> Result<(), ProviderError> {
        Err(ProviderError::Unreachable { reason: "a test".into() })
    }

    /// Returns settings with these times in minutes, and the current time.
    fn settings(recheck: u64, grace: u64) -> (KeySettings, Instant) {
        let [recheck, grace] = [recheck, grace].map(Duration::from_mins);
        (KeySettings { recheck, grace, ..KeySettings::default() }, Instant::now())
    }

    #[test]
    fn a_refusal_withdraws_the_keys_and_an_outage_only_after_the_grace_period() {
        let (settings, start) = settings(5, 30);
        let minutes = |count| start + Duration::from_mins(count);
        let mut recheck = Recheck::new(&settings, start);
        assert!(recheck.may_continue(minutes(4), || panic!("it is not time")));
        assert!(recheck.may_continue(minutes(5), || Ok(())));
        assert!(recheck.may_continue(minutes(9), || panic!("it is not time")));
        assert!(recheck.may_continue(minutes(10), unreachable));
        assert!(recheck.may_continue(minutes(35), unreachable));
        assert!(recheck.may_continue(minutes(39), || panic!("it is not time")));
        assert!(!recheck.may_continue(minutes(40), unreachable));
        let refusal = || Err(ProviderError::Refused { reason: "a test".into() });
        assert!(!Recheck::new(&settings, start).may_continue(minutes(5), refusal));
    }

    #[test]
    fn the_grace_period_begins_with_the_first_failure() {
        let (settings, start) = settings(60, 90);
        let minutes = |count| start + Duration::from_mins(count);
        let mut recheck = Recheck::new(&settings, start);
        assert!(recheck.may_continue(minutes(60), unreachable));
        assert!(recheck.may_continue(minutes(120), unreachable), "60 minutes of 90 have passed");
        assert!(recheck.may_continue(minutes(180), || Ok(())));
        assert!(recheck.may_continue(minutes(240), unreachable), "a success ends the failure");
        assert!(recheck.may_continue(minutes(300), unreachable));
        assert!(!recheck.may_continue(minutes(360), unreachable));
    }

    #[test]
    fn a_grace_period_shorter_than_the_interval_ends_at_its_time() {
        let (settings, start) = settings(60, 5);
        let minutes = |count| start + Duration::from_mins(count);
        let mut recheck = Recheck::new(&settings, start);
        assert!(recheck.may_continue(minutes(60), unreachable));
        assert!(recheck.may_continue(minutes(64), || panic!("it is not time")));
        assert!(recheck.may_continue(minutes(65), || Ok(())), "it is reached again");
        assert!(recheck.may_continue(minutes(124), || panic!("it is not time")));
        assert!(recheck.may_continue(minutes(125), unreachable));
        assert!(!recheck.may_continue(minutes(130), unreachable));
    }
}
