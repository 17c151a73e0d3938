//! Parses the header `Retry-After` of a response (RFC 9110, section 10.2.3).

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use awc::http::header::HttpDate;
use sealpost_domain::Timestamp;

/// The delay that a receiver requests, in either form of the header: a date or a number of seconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RetryAfter {
    Date(Timestamp),
    Delay(Duration),
}

impl RetryAfter {
    /// Parses the value of the header `Retry-After`. Returns `None` for a value that is neither a date nor a number of
    /// seconds.
    pub(crate) fn parse(value: &str) -> Option<Self> {
        let value = value.trim();
        if value.bytes().all(|byte| byte.is_ascii_digit()) {
            if value.is_empty() {
                return None;
            }
            // A number that is too large to parse requests a long delay too.
            return Some(Self::Delay(Duration::from_secs(value.parse().unwrap_or(u64::MAX))));
        }
        let date = SystemTime::from(value.parse::<HttpDate>().ok()?);
        let since_epoch = date.duration_since(UNIX_EPOCH).unwrap_or_default();
        Some(Self::Date(Timestamp::from_millis(0).plus(since_epoch)))
    }

    /// Returns the requested delay. If the header has a date, the delay is the time from `now` until that date.
    pub(super) fn delay_from(self, now: Timestamp) -> Duration {
        match self {
            Self::Date(date) => date.since(now),
            Self::Delay(delay) => delay,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_are_read() {
        let delay = |delay_s| Some(RetryAfter::Delay(Duration::from_secs(delay_s)));
        assert_eq!(RetryAfter::parse("120"), delay(120));
        assert_eq!(RetryAfter::parse(" 0 "), delay(0));
        assert_eq!(RetryAfter::parse("99999999999999999999999"), delay(u64::MAX));
        let at = Some(RetryAfter::Date(Timestamp::from_millis(1_767_225_660_000)));
        assert_eq!(RetryAfter::parse("Thu, 01 Jan 2026 00:01:00 GMT"), at);
        assert_eq!(RetryAfter::parse("Thursday, 01-Jan-26 00:01:00 GMT"), at);
        assert_eq!(RetryAfter::parse("Thu Jan  1 00:01:00 2026"), at);
        for nonsense in ["", "soon", "-5", "1.5", "+5", "2026-01-01T00:01:00Z"] {
            assert_eq!(RetryAfter::parse(nonsense), None, "{nonsense}");
        }
    }
}
