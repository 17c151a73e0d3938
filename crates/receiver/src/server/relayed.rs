//! Handles requests that arrive over a relay: a WebSocket that the receiver opens to the service.

use std::{
    sync::Arc,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use actix_web::{
    body::MessageBody as _,
    http::{
        Uri,
        header::{HeaderMap, HeaderName, HeaderValue, HttpDate, RETRY_AFTER},
    },
    web::Bytes,
};
use sealpost_domain::{Clock, Timestamp};

use super::{
    application::check_application,
    forwarding::Forwarder,
    handler::{Handler, KeySource, RequestObserver},
};
use crate::error::ReceiverError;

/// Verifies, reports and forwards single requests, as a [`Listener`](crate::Listener) does. Needs an actix system.
pub struct RequestHandler(Handler);

/// The response to a request.
#[derive(Debug)]
pub struct HandledResponse {
    /// The HTTP status.
    pub status: u16,
    /// The time in the header `Retry-After`, in seconds from now. `None` if the header is missing or not valid.
    pub retry_after: Option<u64>,
    /// The first KiB of the body. The service stores no more in its log.
    pub body: String,
}

impl RequestHandler {
    /// Creates a handler. `forward_to` is the URL of an application on this machine, and the time limit for its
    /// response. `None` forwards nothing. Fails if the URL does not lead to this machine.
    pub fn new(
        forward_to: Option<(Uri, Duration)>,
        keys: KeySource,
        clock: Arc<dyn Clock>,
        observer: RequestObserver,
    ) -> Result<Self, ReceiverError> {
        forward_to.iter().try_for_each(|(url, _)| check_application(url, None))?;
        let forwarder = forward_to.map(|(url, time_limit)| Forwarder::new(url, time_limit));
        Ok(Self(Handler { keys, clock, forwarder, observer }))
    }

    /// Handles a request, and returns the response for the service. Ignores headers with invalid names or values.
    pub async fn handle<'a>(
        &self,
        headers: impl IntoIterator<Item = (&'a str, &'a str)>,
        body: String,
    ) -> HandledResponse {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            let name = HeaderName::from_bytes(name.as_bytes()).ok();
            if let Some((name, value)) = name.zip(HeaderValue::from_str(value).ok()) {
                map.append(name, value);
            }
        }
        let response = self.0.respond(&map, Bytes::from(body)).await;
        let retry_after = response.headers().get(RETRY_AFTER).and_then(|value| value.to_str().ok());
        let retry_after = retry_after.and_then(|value| seconds_of(value, self.0.clock.now()));
        let status = response.status().as_u16();
        let body = response.into_body().try_into_bytes().unwrap_or_default();
        let shown = body.get(..BODY_BYTES_MAX).unwrap_or(&body);
        HandledResponse { status, retry_after, body: String::from_utf8_lossy(shown).into_owned() }
    }
}

/// Returns the seconds until the time in a header `Retry-After`, which is a number of seconds or a date. Rounds
/// fractions of seconds up, so that no attempt comes before the requested time.
fn seconds_of(value: &str, now: Timestamp) -> Option<u64> {
    let value = value.trim();
    let (whole, fraction) = value.split_once('.').unwrap_or((value, "0"));
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    if is_number(whole) && is_number(fraction) {
        let has_fraction = fraction.bytes().any(|digit| digit != b'0');
        // Uses the maximum for a number that is too large to parse, because such a number also requests a long delay.
        let seconds: u64 = whole.parse().unwrap_or(u64::MAX);
        return Some(seconds.saturating_add(u64::from(has_fraction)));
    }
    let date = SystemTime::from(value.parse::<HttpDate>().ok()?);
    let since_epoch = date.duration_since(UNIX_EPOCH).unwrap_or_default();
    let wait = Timestamp::from_millis(0).plus(since_epoch).since(now);
    u64::try_from(wait.as_millis().div_ceil(1000)).ok()
}

const BODY_BYTES_MAX: usize = 1024;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_or_a_date_is_a_number_of_whole_seconds() {
        let now = Timestamp::from_millis(1_767_225_600_500);
        for (value, seconds) in [
            ("120", Some(120)),
            (" 0 ", Some(0)),
            ("0.2", Some(1)),
            ("7.0", Some(7)),
            ("18446744073709551615.5", Some(u64::MAX)),
            ("99999999999999999999999", Some(u64::MAX)),
            ("1.", None),
            ("-5", None),
            ("", None),
            ("Thu, 01 Jan 2026 00:01:00 GMT", Some(60)),
            ("Wed, 31 Dec 2025 23:59:59 GMT", Some(0)),
            ("soon", None),
        ] {
            assert_eq!(seconds_of(value, now), seconds, "{value}");
        }
    }
}
