//! Reads the responses of webhook receivers.
//!
//! A response is hostile input. The client therefore reads few bytes, for a short time, and keeps only printable text.

use std::{str, time::Duration};

use actix_rt::time::timeout;
use awc::{ClientResponse, http::header::RETRY_AFTER};
use futures_util::StreamExt as _;
use sealpost_domain::{AttemptFailure, ReceiverResponse};

use crate::retry::{attempt_report::AttemptReport, retry_after::RetryAfter};

/// Reads a response. Only the status decides whether the attempt succeeded.
pub(super) async fn read_response(response: ClientResponse) -> AttemptReport {
    let (status, headers) = (response.status(), response.headers());
    let retry_after = headers.get(RETRY_AFTER).and_then(|value| value.to_str().ok());
    let retry_after = retry_after.and_then(RetryAfter::parse);
    let is_aborted = headers.get(DELIVERY).is_some_and(|value| value == ABORT);
    let body = read_beginning(response).await;
    AttemptReport { is_aborted, ..report(status.as_u16(), retry_after, &body) }
}

/// Returns the report of an attempt with a response. Ignores `retry_after` unless the status is 429 or 503.
pub(crate) fn report(status: u16, retry_after: Option<RetryAfter>, body: &[u8]) -> AttemptReport {
    let failure = AttemptFailure::HttpStatus(status);
    let is_success = (200..300).contains(&status);
    AttemptReport {
        result: if is_success { Ok(()) } else { Err(failure) },
        response: Some(ReceiverResponse { status, excerpt: printable(body, EXCERPT_MAX) }),
        error_detail: None,
        retry_after: retry_after.filter(|_| matches!(status, 429 | 503)),
        is_aborted: false,
    }
}

/// Reads at most [`BODY_BYTES_MAX`] of a body, for at most [`BODY_TIMEOUT`], and returns its beginning.
///
/// If the body was read to its end, the connection is reused. Otherwise, dropping the response closes the connection.
async fn read_beginning(mut response: ClientResponse) -> Vec<u8> {
    let mut kept = Vec::new();
    let read = async {
        let mut left = BODY_BYTES_MAX;
        while let Some(Ok(chunk)) = response.next().await {
            let count = EXCERPT_MAX.saturating_sub(kept.len()).min(chunk.len());
            kept.extend_from_slice(chunk.get(..count).unwrap_or_default());
            left = left.checked_sub(chunk.len())?;
        }
        Some(())
    };
    drop(timeout(BODY_TIMEOUT, read).await);
    kept
}

/// Converts bytes to at most `length_max` bytes of text. Replaces invalid UTF-8, and control characters that could
/// change the state of a terminal.
pub(super) fn printable(bytes: &[u8], length_max: usize) -> String {
    // Omits an incomplete character at the end of the excerpt.
    let complete = match str::from_utf8(bytes) {
        Err(error) if error.error_len().is_none() => bytes.get(..error.valid_up_to()),
        _ => Some(bytes),
    };
    let mut text = String::new();
    for char in String::from_utf8_lossy(complete.unwrap_or_default()).chars() {
        let is_harmless = !char.is_control() || matches!(char, '\n' | '\t');
        let char = if is_harmless { char } else { char::REPLACEMENT_CHARACTER };
        if text.len() + char.len_utf8() > length_max {
            break;
        }
        text.push(char);
    }
    text
}

const DELIVERY: &str = "webhook-delivery";
const ABORT: &str = "abort-message";

/// Maximum number of bytes that are read from a body. If a body is longer, the connection is closed.
const BODY_BYTES_MAX: usize = 16 * 1024;
const BODY_TIMEOUT: Duration = Duration::from_secs(1);
/// Maximum number of bytes of a body that are stored, as [`ReceiverResponse::excerpt`] documents.
const EXCERPT_MAX: usize = 1024;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn an_excerpt_is_printable_text() {
        for (bytes, kept) in [
            (b"all is \tfine\n".as_slice(), "all is \tfine\n"),
            (b"", ""),
            (b"a\x1b[31mred\x00\r\x7f", "a\u{fffd}[31mred\u{fffd}\u{fffd}\u{fffd}"),
            ("next\u{85}line".as_bytes(), "next\u{fffd}line"),
            (b"\xff\xfeok", "\u{fffd}\u{fffd}ok"),
            ("grüße, 世界".as_bytes(), "grüße, 世界"),
            (b"cut \xe4\xb8", "cut "),
        ] {
            assert_eq!(printable(bytes, EXCERPT_MAX), kept);
        }
    }

    proptest! {
        #[test]
        fn an_excerpt_is_short_and_without_control_characters(
            bytes in proptest::collection::vec(any::<u8>(), 0..=EXCERPT_MAX),
        ) {
            let text = printable(&bytes, EXCERPT_MAX);
            prop_assert!(text.len() <= EXCERPT_MAX);
            prop_assert!(!text.contains(|c: char| c.is_control() && c != '\n' && c != '\t'));
        }
    }
}
