//! Verifies the signature and the timestamp of a request.

use sealpost_domain::Timestamp;
use sealpost_webhooks::{SignedHeaders, VerifyFault};

use super::{
    fault::VerificationFault,
    signed_headers::{entries, signed_headers, version},
};
use crate::{keys::ReceiverKey, request::ReceivedRequest};

/// Verifies a request that was received at `now`. A valid request has a signature of one of the keys, and a timestamp
/// within 300 s of `now`. Compares signatures in constant time.
///
/// Respond with 401 to [`VerificationFault::NoMatch`] and [`VerificationFault::Stale`], and with 400 to other faults.
pub fn verify(
    request: ReceivedRequest<'_>,
    keys: &[ReceiverKey],
    now: Timestamp,
) -> Result<(), VerificationFault> {
    let headers = signed_headers(request.headers)?;
    verify_headers(&headers, request.body, keys, now)
}

pub(super) fn verify_headers(
    headers: &SignedHeaders<'_>,
    body: &[u8],
    keys: &[ReceiverKey],
    now: Timestamp,
) -> Result<(), VerificationFault> {
    if keys.iter().any(|key| key.verify(headers, body, now).is_ok()) {
        return Ok(());
    }
    let Ok(timestamp_s) = headers.timestamp.parse::<i64>() else {
        return Err(VerificationFault::TimestampUnreadable);
    };
    let is_stale = |key: &ReceiverKey| key.verify(headers, body, now) == Err(VerifyFault::Stale);
    // Reports an old timestamp only if a signature matches. Otherwise the wrong signature is reported.
    if keys.iter().any(|key| key.matches(headers, body)) && keys.iter().any(is_stale) {
        Err(VerificationFault::Stale { age_s: now.as_seconds().saturating_sub(timestamp_s) })
    } else {
        let versions = entries(headers).map(version).collect::<Vec<_>>().join(", ");
        Err(VerificationFault::NoMatch { versions })
    }
}
