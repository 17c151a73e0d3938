//! Verification rules common to both signature versions.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use sealpost_domain::Timestamp;

/// The signature headers of a received request.
#[derive(Debug, Clone, Copy)]
pub struct SignedHeaders<'a> {
    /// Value of the header `webhook-id`.
    pub id: &'a str,
    /// Value of the header `webhook-timestamp`.
    pub timestamp: &'a str,
    /// Value of the header `webhook-signature`, or of `X-Service-Signature`, which has the same content.
    pub signature: &'a str,
}

/// The reason why a request is not authentic.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum VerifyError {
    /// No entry of the header is a signature by the given key over the id, timestamp and body of the request.
    #[error("no signature matches")]
    NoMatch,
    /// The timestamp is more than five minutes before or after the current time. The request was replayed, or a clock
    /// is wrong.
    #[error("the timestamp is more than five minutes away")]
    Stale,
    /// The timestamp is not a whole number of seconds.
    #[error("the timestamp is not a whole number of seconds")]
    TimestampUnreadable,
}

/// Returns the signed bytes: `{id}.{timestamp}.{body}`.
pub fn signed_content(headers: &SignedHeaders<'_>, body: &[u8]) -> Vec<u8> {
    content(headers.id, headers.timestamp, body)
}

/// Joins id, timestamp and body with dots. A signature covers these bytes.
pub(super) fn content(event_id: &str, timestamp: &str, body: &[u8]) -> Vec<u8> {
    [event_id.as_bytes(), timestamp.as_bytes(), body].join(&b'.')
}

/// Checks the timestamp. Then accepts the request if `is_valid(content, signature)` returns true for one of the
/// signatures of this version. `version` is the prefix of an entry, including the comma, such as `v1,`.
pub(super) fn verify_version(
    version: &str,
    headers: &SignedHeaders<'_>,
    body: &[u8],
    now: Timestamp,
    is_valid: impl Fn(&[u8], &[u8]) -> bool,
) -> Result<(), VerifyError> {
    let Ok(timestamp_s) = headers.timestamp.parse::<i64>() else {
        return Err(VerifyError::TimestampUnreadable);
    };
    if now.as_seconds().abs_diff(timestamp_s) > TOLERANCE_S {
        return Err(VerifyError::Stale);
    }
    let content = signed_content(headers, body);
    let matches = |entry: &str| {
        let text = entry.strip_prefix(version);
        let signature = text.and_then(|text| STANDARD.decode(text).ok());
        signature.is_some_and(|signature| is_valid(&content, &signature))
    };
    if headers.signature.split(' ').any(matches) { Ok(()) } else { Err(VerifyError::NoMatch) }
}

/// Maximum difference between the timestamp and the clock, as in the reference libraries of Standard Webhooks.
const TOLERANCE_S: u64 = 5 * 60;
