//! Renders the headers `RateLimit-Policy` and `RateLimit` (draft-ietf-httpapi-ratelimit-headers-11): the limits of an
//! API key, and the number of remaining requests. Each response to a request that reached the rate check has these
//! headers.

use std::fmt::Write as _;

use actix_web::http::header::{HeaderName, HeaderValue};
use sealpost_domain::Timestamp;
use sealpost_service::UsageReport;

/// Selects the windows (minute, day and month) for which a request counts. The headers of the response show the same
/// windows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Counted {
    /// A send counts per minute, day and month.
    Messages,
    /// Any other request counts per minute and day.
    Requests,
}

/// The values of the headers `RateLimit-Policy` and `RateLimit`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RateLimit {
    policy: HeaderValue,
    remaining: HeaderValue,
}

impl RateLimit {
    /// Renders the limits and the usage of a key at `now`. Returns `None` if a header value would be invalid.
    pub(super) fn new(report: &UsageReport, now: Timestamp, counted: Counted) -> Option<Self> {
        let items = [
            ("minute", Some(60), &report.minute),
            ("day", Some(86_400), &report.day),
            // Omits `w`, the length of the window, because months differ in length.
            ("month", None, &report.month),
        ];
        let shown = match counted {
            Counted::Messages => 3,
            Counted::Requests => 2,
        };
        let (mut policy, mut remaining) =
            (String::with_capacity(LENGTH), String::with_capacity(LENGTH));
        for (name, window_s, window) in items.into_iter().take(shown) {
            for header in [&mut policy, &mut remaining] {
                let comma = if header.is_empty() { "" } else { ", " };
                header.push_str(comma);
            }
            let reset_s = window.resets_at.since(now).as_millis().div_ceil(1000);
            // Writing to a `String` cannot fail.
            write!(policy, "\"{name}\";q={}", window.limit).ok();
            if let Some(seconds) = window_s {
                write!(policy, ";w={seconds}").ok();
            }
            write!(remaining, "\"{name}\";r={};t={reset_s}", window.remaining).ok();
        }
        Some(Self { policy: policy.try_into().ok()?, remaining: remaining.try_into().ok()? })
    }

    /// Returns the names and values of both headers.
    pub(crate) fn headers(&self) -> [(HeaderName, HeaderValue); 2] {
        [(RATELIMIT_POLICY, self.policy.clone()), (RATELIMIT, self.remaining.clone())]
    }
}

/// Initial capacity of a header value in bytes. Typical values are shorter.
const LENGTH: usize = 80;
const RATELIMIT_POLICY: HeaderName = HeaderName::from_static("ratelimit-policy");
const RATELIMIT: HeaderName = HeaderName::from_static("ratelimit");

#[cfg(test)]
mod tests {
    use sealpost_domain::{Plan, Usage};
    use sealpost_limits::{Terms, admit_request, report};

    use super::*;

    /// The current time in the tests: 2026-01-01T00:00:24.500Z.
    const NOW: Timestamp = Timestamp::from_millis(1_767_225_624_500);

    fn shown(usage: &Usage, counted: Counted) -> [String; 2] {
        let report = report(&Terms::new(&Plan::Explorer), usage, NOW);
        let headers = RateLimit::new(&report, NOW, counted).unwrap().headers();
        headers.map(|(_, value)| value.to_str().unwrap().to_owned())
    }

    #[test]
    fn a_request_shows_minute_and_day_with_seconds_rounded_up() {
        let mut usage = Usage::UNUSED;
        admit_request(&Terms::new(&Plan::Explorer), &mut usage, NOW).unwrap();
        let [policy, left] = shown(&usage, Counted::Requests);
        assert_eq!(policy, r#""minute";q=20;w=60, "day";q=1000;w=86400"#);
        assert_eq!(left, r#""minute";r=19;t=36, "day";r=999;t=86376"#);
    }

    #[test]
    fn a_send_shows_the_month_without_a_window_length() {
        let [policy, left] = shown(&Usage::UNUSED, Counted::Messages);
        assert_eq!(policy, r#""minute";q=20;w=60, "day";q=1000;w=86400, "month";q=1000"#);
        assert_eq!(left, r#""minute";r=20;t=36, "day";r=1000;t=86376, "month";r=1000;t=2678376"#);
    }

    #[test]
    fn an_exhausted_window_has_zero_remaining() {
        let mut usage = Usage::UNUSED;
        while admit_request(&Terms::new(&Plan::Explorer), &mut usage, NOW).is_ok() {}
        let [_, left] = shown(&usage, Counted::Requests);
        assert!(left.starts_with(r#""minute";r=0;t=36, "#), "{left}");
    }
}
