//! Verifies the signature and the timestamp of a request.

use sealpost_domain::Timestamp;
use sealpost_webhooks::{SignedHeaders, VerifyError};
use serde::{Serialize, Serializer};

use crate::{
    keys::ReceiverKey,
    request::{HeaderList, ReceivedRequest, RepeatedHeader},
};

/// Verifies a request that was received at `now`. A valid request has a signature of one of the keys, and a timestamp
/// within 300 s of `now`. Compares signatures in constant time.
///
/// Respond with 401 to [`VerificationError::NoMatch`] and [`VerificationError::Stale`], and with 400 to other faults.
pub fn verify(
    request: ReceivedRequest<'_>,
    keys: &[ReceiverKey],
    now: Timestamp,
) -> Result<(), VerificationError> {
    let headers = signed_headers(request.headers)?;
    verify_headers(&headers, request.body, keys, now)
}

pub(super) fn verify_headers(
    headers: &SignedHeaders<'_>,
    body: &[u8],
    keys: &[ReceiverKey],
    now: Timestamp,
) -> Result<(), VerificationError> {
    if keys.iter().any(|key| key.verify(headers, body, now).is_ok()) {
        return Ok(());
    }
    let Ok(timestamp_s) = headers.timestamp.parse::<i64>() else {
        return Err(VerificationError::TimestampUnreadable);
    };
    let is_stale = |key: &ReceiverKey| key.verify(headers, body, now) == Err(VerifyError::Stale);
    // Reports `Stale` only if a signature matches. If no signature matches, reports `NoMatch`.
    if keys.iter().any(|key| key.matches(headers, body)) && keys.iter().any(is_stale) {
        Err(VerificationError::Stale { age_s: now.as_seconds().saturating_sub(timestamp_s) })
    } else {
        let versions = entries(headers).map(version).collect::<Vec<_>>().join(", ");
        Err(VerificationError::NoMatch { versions })
    }
}

/// The reason why a request cannot be verified. Serialized as its code, such as `no_match`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum VerificationError {
    /// One of the headers `webhook-id`, `webhook-timestamp` and `webhook-signature` is missing or empty.
    #[error("the header {name} is missing")]
    HeaderMissing {
        /// The name of the missing header.
        name: &'static str,
    },
    /// One of the headers that verification needs occurs more than once.
    #[error("the header {name} occurs more than once")]
    HeaderRepeated {
        /// The name of the repeated header.
        name: &'static str,
    },
    /// No signature of the request was made with one of the keys over this id, timestamp and body.
    #[error("no signature matches; there are: {versions}")]
    NoMatch {
        /// The versions of the request's signatures, such as `v1, v1a`.
        versions: String,
    },
    /// A signature matches, but the timestamp differs by more than 300 s from the time of receipt. The request was
    /// replayed, or a clock is wrong.
    #[error("the signature matches, but the timestamp is {}; at most 300 s are allowed", age(*age_s))]
    Stale {
        /// Seconds from the timestamp to the time of receipt. Negative if the timestamp is in the future.
        age_s: i64,
    },
    /// The header `webhook-timestamp` is not an integer.
    #[error("the header webhook-timestamp is not a whole number of seconds")]
    TimestampUnreadable,
}

impl VerificationError {
    /// Returns the code of the fault for programs. A code never changes.
    pub fn code(&self) -> &'static str {
        match self {
            Self::HeaderMissing { .. } => "header_missing",
            Self::HeaderRepeated { .. } => "header_repeated",
            Self::NoMatch { .. } => "no_match",
            Self::Stale { .. } => "stale",
            Self::TimestampUnreadable => "timestamp_unreadable",
        }
    }
}

impl Serialize for VerificationError {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.code())
    }
}

fn age(age_s: i64) -> String {
    if age_s < 0 {
        format!("{} s in the future: check the clock", age_s.unsigned_abs())
    } else {
        format!("{age_s} s old")
    }
}

/// Returns the id, the timestamp and the list of signatures. The list is the value of `webhook-signature`, or of
/// `x-service-signature` if `webhook-signature` is missing.
pub(super) fn signed_headers(headers: &HeaderList) -> Result<SignedHeaders<'_>, VerificationError> {
    let require = |name| match headers.find(name) {
        Ok(Some(value)) if !value.is_empty() => Ok(value),
        Ok(_) => Err(VerificationError::HeaderMissing { name }),
        Err(RepeatedHeader) => Err(VerificationError::HeaderRepeated { name }),
    };
    let signature = match require(SIGNATURE) {
        Err(VerificationError::HeaderMissing { name }) => require(SERVICE_SIGNATURE)
            .map_err(|_missing| VerificationError::HeaderMissing { name })?,
        found => found?,
    };
    Ok(SignedHeaders {
        id: require("webhook-id")?,
        timestamp: require("webhook-timestamp")?,
        signature,
    })
}

/// Returns the signatures in the list, at most 16. Each entry has the form `v1,{base64}`, or another version than `v1`.
pub(super) fn entries<'a>(headers: &SignedHeaders<'a>) -> impl Iterator<Item = &'a str> {
    headers.signature.split(' ').take(ENTRIES_MAX)
}

/// Returns the version of a signature: the part before the comma, such as `v1`.
pub(super) fn version(entry: &str) -> &str {
    entry.split_once(',').map_or(entry, |(version, _)| version)
}

pub(super) const SIGNATURE: &str = "webhook-signature";
pub(super) const SERVICE_SIGNATURE: &str = "x-service-signature";
/// Maximum number of signatures that are read from one request, which bounds the size of a report.
const ENTRIES_MAX: usize = 16;
