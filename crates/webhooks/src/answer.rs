//! What a receiver answered: its status, what it asks for, and the beginning of what it says. All of it is hostile
//! until shown otherwise, so that little is read, for a short time, and only text is kept.

use std::{
    str,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use actix_rt::time::timeout;
use awc::{
    ClientResponse,
    http::{
        StatusCode,
        header::{HeaderMap, HttpDate, RETRY_AFTER},
    },
};
use futures_util::StreamExt as _;
use sealpost_domain::{AttemptFailure, ReceiverResponse, Timestamp};

/// What came of one attempt.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Attempted {
    /// `Ok` means that the receiver answered 2xx in time.
    pub(crate) result: Result<(), AttemptFailure>,
    pub(crate) answer: Option<ReceiverResponse>,
    /// When the receiver asks to be tried again, where its status gives the word a meaning.
    pub(crate) retry_after: Option<RetryAfter>,
    /// The receiver asks for no further attempt at this notice.
    pub(crate) is_aborted: bool,
}

/// Both forms of the header of that name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RetryAfter {
    At(Timestamp),
    Span(Duration),
}

impl Attempted {
    /// An attempt that got no answer.
    pub(crate) fn failed(failure: AttemptFailure) -> Self {
        Self { result: Err(failure), answer: None, retry_after: None, is_aborted: false }
    }

    /// Takes from an answer what there is to take. Its status alone says whether the attempt succeeded.
    pub(crate) async fn read(answer: ClientResponse) -> Self {
        let (status, headers) = (answer.status(), answer.headers());
        let failure = AttemptFailure::HttpStatus(status.as_u16());
        let result = if status.is_success() { Ok(()) } else { Err(failure) };
        let retry_after = match status {
            StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE => retry_after(headers),
            _ => None,
        };
        let is_aborted = headers.get(DELIVERY).is_some_and(|value| value == ABORT);
        let excerpt = text(&beginning(answer).await);
        let answer = Some(ReceiverResponse { status: status.as_u16(), excerpt });
        Self { result, answer, retry_after, is_aborted }
    }

    /// Whether the target was heard of at all.
    pub(crate) fn is_answered(&self) -> bool {
        self.answer.is_some() || self.result == Err(AttemptFailure::TooLarge)
    }
}

fn retry_after(headers: &HeaderMap) -> Option<RetryAfter> {
    let value = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    if value.bytes().all(|byte| byte.is_ascii_digit()) {
        // More digits than a number has room for are a long time too.
        let span_s = if value.is_empty() { return None } else { value.parse().unwrap_or(u64::MAX) };
        return Some(RetryAfter::Span(Duration::from_secs(span_s)));
    }
    let instant = SystemTime::from(value.parse::<HttpDate>().ok()?);
    let since_epoch = instant.duration_since(UNIX_EPOCH).unwrap_or_default();
    Some(RetryAfter::At(Timestamp::from_millis(0).plus(since_epoch)))
}

/// Reads a small body to its end, since a connection can only then be used again, and keeps its beginning. A long or
/// a slow one is not worth it: dropping the answer closes the connection.
async fn beginning(mut answer: ClientResponse) -> Vec<u8> {
    let mut kept = Vec::new();
    let read_on = async {
        let mut left = READ_MAX;
        while let Some(Ok(chunk)) = answer.next().await {
            let wanted = EXCERPT_MAX.saturating_sub(kept.len()).min(chunk.len());
            kept.extend_from_slice(chunk.get(..wanted).unwrap_or_default());
            left = left.checked_sub(chunk.len())?;
        }
        Some(())
    };
    drop(timeout(READ_FOR, read_on).await);
    kept
}

/// At most as many bytes of text as were given: what is no text, or would do something to a terminal, is replaced.
fn text(bytes: &[u8]) -> String {
    // A character that was cut off at the end is left out instead.
    let whole = match str::from_utf8(bytes) {
        Err(error) if error.error_len().is_none() => bytes.get(..error.valid_up_to()),
        _ => Some(bytes),
    };
    let mut text = String::new();
    for char in String::from_utf8_lossy(whole.unwrap_or_default()).chars() {
        let is_harmless = !char.is_control() || matches!(char, '\n' | '\t');
        let char = if is_harmless { char } else { char::REPLACEMENT_CHARACTER };
        if text.len() + char.len_utf8() > EXCERPT_MAX {
            break;
        }
        text.push(char);
    }
    text
}

const DELIVERY: &str = "webhook-delivery";
const ABORT: &str = "abort-message";

/// How much of a body is read, how much of it is kept, and for how long it is waited for.
const READ_MAX: usize = 16 * 1024;
const EXCERPT_MAX: usize = 1024;
const READ_FOR: Duration = Duration::from_secs(1);

#[cfg(test)]
mod tests {
    use awc::http::header::HeaderValue;
    use proptest::prelude::*;

    use super::*;

    fn asked(value: &str) -> Option<RetryAfter> {
        let mut headers = HeaderMap::new();
        headers.insert(RETRY_AFTER, HeaderValue::from_str(value).unwrap());
        retry_after(&headers)
    }

    #[test]
    fn retry_after_is_read_in_both_forms() {
        let span = |span_s| Some(RetryAfter::Span(Duration::from_secs(span_s)));
        assert_eq!(asked("120"), span(120));
        assert_eq!(asked(" 0 "), span(0));
        assert_eq!(asked("99999999999999999999999"), span(u64::MAX));
        let at = Some(RetryAfter::At(Timestamp::from_millis(1_767_225_660_000)));
        assert_eq!(asked("Thu, 01 Jan 2026 00:01:00 GMT"), at);
        assert_eq!(asked("Thursday, 01-Jan-26 00:01:00 GMT"), at);
        assert_eq!(asked("Thu Jan  1 00:01:00 2026"), at);
        for nonsense in ["", "soon", "-5", "1.5", "+5", "2026-01-01T00:01:00Z"] {
            assert_eq!(asked(nonsense), None, "{nonsense}");
        }
        assert_eq!(retry_after(&HeaderMap::new()), None);
    }

    #[test]
    fn only_harmless_text_is_kept() {
        for (bytes, kept) in [
            (b"all is \tfine\n".as_slice(), "all is \tfine\n"),
            (b"", ""),
            (b"a\x1b[31mred\x00\r\x7f", "a\u{fffd}[31mred\u{fffd}\u{fffd}\u{fffd}"),
            ("next\u{85}line".as_bytes(), "next\u{fffd}line"),
            (b"\xff\xfeok", "\u{fffd}\u{fffd}ok"),
            ("grüße, 世界".as_bytes(), "grüße, 世界"),
            (b"cut \xe4\xb8", "cut "),
        ] {
            assert_eq!(text(bytes), kept);
        }
    }

    proptest! {
        #[test]
        fn an_excerpt_is_short_text_without_control_characters(
            bytes in proptest::collection::vec(any::<u8>(), 0..=EXCERPT_MAX),
        ) {
            let text = text(&bytes);
            prop_assert!(text.len() <= EXCERPT_MAX);
            prop_assert!(!text.contains(|c: char| c.is_control() && c != '\n' && c != '\t'));
        }
    }
}
