//! Lists the reasons why a request cannot be verified, with their permanent codes.

use serde::{Serialize, Serializer};

/// Why a request cannot be verified. Serialized as its code, such as `no_match`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum VerificationFault {
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

impl VerificationFault {
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

impl Serialize for VerificationFault {
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
