//! Decides which requests are repeated, and when.

mod repeatable;

use std::time::Duration;

use ring::rand::{SecureRandom as _, SystemRandom};
use sealpost_domain::Code;

use self::repeatable::REPEATABLE;
use crate::{
    error::ClientError,
    request::{LOG, RELAY, STATUS_LISTS},
};

/// The limits of retries.
#[derive(Debug, Clone, Copy)]
pub struct RetryPolicy {
    /// Maximum number of tries, including the first.
    pub tries: u32,
    /// Pause after the first try. Each further pause is twice as long as the one before. A random part of up to one
    /// half is then subtracted, so that clients do not all retry at the same time.
    pub first_pause: Duration,
    /// Maximum pause if the response has no `Retry-After`.
    pub pause_max: Duration,
    /// Maximum `Retry-After` to wait for. If `Retry-After` is longer, the call returns the error at once.
    pub retry_after_max: Duration,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self {
            tries: 5,
            first_pause: Duration::from_millis(500),
            pause_max: Duration::from_secs(8),
            retry_after_max: Duration::from_mins(1),
        }
    }
}

impl RetryPolicy {
    /// Returns the pause before the next try. `tries` is the number of tries so far. Returns `None` if the request must
    /// not be repeated.
    pub(crate) fn pause(&self, tries: u32, error: &ClientError, is_send: bool) -> Option<Duration> {
        if tries >= self.tries || !may_repeat(error, is_send) {
            return None;
        }
        let backoff = self.backoff(tries);
        match error.retry_after() {
            Some(wait) if wait > self.retry_after_max => None,
            wait => Some(wait.unwrap_or_default().max(backoff)),
        }
    }

    /// Returns the pause before a [`Relay`](crate::Relay) connects again, after `failures` failures in a row. Returns
    /// `None` if the service would also refuse the next connection. The number of tries is not limited.
    #[cfg(feature = "relay")]
    pub(crate) fn relay_pause(&self, failures: u32, error: &ClientError) -> Option<Duration> {
        let is_temporary = match error {
            ClientError::RelayClosed { .. } => true,
            // A proxy can respond with any status while it cannot reach the service.
            ClientError::NotSealpost { status, .. } => {
                !(400..500).contains(status) || TEMPORARY.contains(status)
            }
            error => may_repeat(error, false),
        };
        let wait = error.retry_after().unwrap_or_default();
        is_temporary.then(|| wait.max(self.backoff(failures)))
    }

    fn backoff(&self, failures: u32) -> Duration {
        let factor = 2_u32.saturating_pow(failures.saturating_sub(1));
        jittered(self.first_pause.saturating_mul(factor).min(self.pause_max))
    }
}

/// Returns true if another try may succeed, and does no harm even if the service has already processed the request.
fn may_repeat(error: &ClientError, is_send: bool) -> bool {
    match error {
        ClientError::Unreachable { path, may_have_been_processed, .. } => {
            !may_have_been_processed || is_repeatable(path, is_send)
        }
        ClientError::Refused { path, retry_after, .. } => match error.code() {
            // The service stores nothing before it responds with one of these codes, so the request can be repeated.
            Some(
                Code::MonthlyLimitExceeded
                | Code::RateLimitExceeded
                | Code::RequestTimeout
                | Code::ServiceUnavailable,
            ) => true,
            // If the response has `Retry-After`, the key is inactive only for a moment, because its sealing key is
            // being replaced.
            Some(Code::KeyInactive) => retry_after.is_some(),
            Some(Code::InternalError) => is_repeatable(path, is_send),
            _ => false,
        },
        // The response is from a proxy, which may have forwarded the request to the service. Repeats only a request
        // that does no harm if the service processes it twice.
        ClientError::NotSealpost { path, status, .. } => {
            TEMPORARY.contains(status) && is_repeatable(path, is_send)
        }
        _ => false,
    }
}

/// Returns true if the request may be repeated even if the service may have processed it. Includes sends with an
/// `Idempotency-Key`, whose message the service stores only once.
fn is_repeatable(path: &str, is_send: bool) -> bool {
    (is_send && SENDS.contains(&path))
        || REPEATABLE.contains(&path)
        || path == RELAY
        || path.starts_with(STATUS_LISTS)
        || path.starts_with(LOG)
}

/// Returns a random time between half of `pause` and `pause`, so that clients do not all retry at the same time.
fn jittered(pause: Duration) -> Duration {
    let mut random = [0; 1];
    // If the random source fails, the pause is not shortened.
    let share = SystemRandom::new().fill(&mut random).map_or(0, |()| u32::from(random[0]));
    pause.saturating_sub(pause.saturating_mul(share) / 512)
}

const TEMPORARY: [u16; 6] = [408, 429, 500, 502, 503, 504];
const SENDS: [&str; 2] = ["/v1/channel/send", "/v1/channel/send-batch"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lost_response_is_repeated_only_without_further_effect() {
        let gateway = |path: &str| ClientError::NotSealpost {
            path: path.to_owned(),
            status: 502,
            retry_after: None,
        };
        for path in ["/v1/channel/open", "/v1/status/1", "/log/checkpoint"] {
            assert!(may_repeat(&gateway(path), false), "{path}");
        }
        for path in SENDS {
            assert!(may_repeat(&gateway(path), true) && !may_repeat(&gateway(path), false));
        }
        assert!(!may_repeat(&gateway("/v1/webhooks/register"), false));
        // Other requests are not repeated, even with an `Idempotency-Key`.
        assert!(!may_repeat(&gateway("/v1/did/activate"), true));
    }

    #[cfg(feature = "relay")]
    #[test]
    fn a_relay_outlasts_the_responses_of_a_proxy() {
        let pause = |status| {
            let path = RELAY.to_owned();
            let page = ClientError::NotSealpost { path, status, retry_after: None };
            RetryPolicy::default().relay_pause(1, &page)
        };
        for status in [101, 200, 204, 304, 408, 429, 500, 502, 521] {
            assert!(pause(status).is_some(), "{status}");
        }
        for status in [400, 401, 403, 404] {
            assert_eq!(pause(status), None, "{status}");
        }
    }

    #[test]
    fn a_long_wait_returns_the_error_at_once() {
        let busy = |seconds| ClientError::Refused {
            path: SENDS[0].to_owned(),
            problem: Box::new(
                serde_json::from_str(r#"{"status":503,"code":"SERVICE_UNAVAILABLE"}"#).unwrap(),
            ),
            retry_after: Some(Duration::from_secs(seconds)),
        };
        let policy = RetryPolicy::default();
        assert_eq!(policy.pause(1, &busy(60), true), Some(Duration::from_mins(1)));
        assert_eq!(policy.pause(1, &busy(61), true), None);
        assert_eq!(policy.pause(policy.tries, &busy(1), true), None);
    }
}
