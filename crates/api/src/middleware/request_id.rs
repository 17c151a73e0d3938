//! The id of a request: from the client, or new.

use actix_web::http::header::HeaderName;
use sealpost_domain::{RequestId, Timestamp};
use sealpost_service::random;

/// Returns the id that the client sent if it is valid, otherwise a new id.
pub(super) fn valid_or_new(sent: Option<&[u8]>, now: impl FnOnce() -> Timestamp) -> String {
    let sent = sent.and_then(|bytes| str::from_utf8(bytes).ok());
    if let Some(sent) = sent.filter(|text| is_valid(text)) {
        return sent.to_owned();
    }
    // If the random source fails, the random part of the id is zeros. The request must not fail only because it has no
    // random id.
    RequestId::new(now(), random().unwrap_or_default()).to_string()
}

fn is_valid(text: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    (1..=64).contains(&text.len()) && text.bytes().all(allowed)
}

pub(super) const X_REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
