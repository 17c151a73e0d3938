//! What each code means to whoever meets it, and what to do: one table, of which the pages at `/docs/errors`, the
//! examples of the OpenAPI document and `docs/errors.md` are made.

mod badge;
mod caller;
mod limit;
mod request;
mod service;
mod thing;

#[cfg(test)]
mod tests;

use sealpost_domain::Code;

use crate::http::Problem;

/// What is told of one code.
pub struct Meaning {
    /// What it says, in one sentence.
    pub means: &'static str,
    /// When it comes.
    pub when: &'static [&'static str],
    /// What to do about it.
    pub remedy: &'static [&'static str],
    /// Whether trying again helps.
    pub retry: Retry,
    /// A problem that has this code.
    pub example: fn() -> Problem,
}

/// Whether the same request is worth another try. Every refusal but an internal error has stored nothing, so that
/// trying again never does something twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Retry {
    /// After the time that `Retry-After` says.
    AfterWaiting,
    /// At once.
    AtOnce,
    /// Only with a difference.
    Changed,
    /// Safe with an `Idempotency-Key`.
    Idempotent,
}

impl Retry {
    /// The answer to: is it safe to try again?
    pub const fn advice(self) -> &'static str {
        match self {
            Self::AfterWaiting => {
                "Yes, once the seconds in `Retry-After` are over. Nothing was stored, so nothing can happen twice."
            }
            Self::AtOnce => {
                "Yes. Nothing was stored, so nothing can happen twice; wait a little longer before each further try."
            }
            Self::Changed => {
                "It is safe, because nothing was stored, but the same request gets the same answer until something \
                 changes."
            }
            Self::Idempotent => {
                "A send with an `Idempotency-Key`: yes, it goes out once however often you try. Without one, look first \
                 whether it was done: it may have been stored."
            }
        }
    }
}

/// What is told of a code; a new code does not compile without it.
pub const fn meaning(code: Code) -> Meaning {
    match code {
        Code::BadgeDeniedDrift => badge::BADGE_DENIED_DRIFT,
        Code::BadgeDeniedThresholds => badge::BADGE_DENIED_THRESHOLDS,
        Code::ComplianceCircuitFailed => badge::COMPLIANCE_CIRCUIT_FAILED,
        Code::EnvelopeNotFound => thing::ENVELOPE_NOT_FOUND,
        Code::GovernanceBlocked => caller::GOVERNANCE_BLOCKED,
        Code::HandleTaken => thing::HANDLE_TAKEN,
        Code::IdempotencyKeyReused => request::IDEMPOTENCY_KEY_REUSED,
        Code::InternalError => service::INTERNAL_ERROR,
        Code::InvalidField => request::INVALID_FIELD,
        Code::InvalidJson => request::INVALID_JSON,
        Code::KeyInactive => caller::KEY_INACTIVE,
        Code::KeyNotFound => caller::KEY_NOT_FOUND,
        Code::MethodNotAllowed => request::METHOD_NOT_ALLOWED,
        Code::MissingField => request::MISSING_FIELD,
        Code::MonthlyLimitExceeded => limit::MONTHLY_LIMIT_EXCEEDED,
        Code::NotFound => thing::NOT_FOUND,
        Code::PayloadTooLarge => limit::PAYLOAD_TOO_LARGE,
        Code::QuotaExceeded => limit::QUOTA_EXCEEDED,
        Code::RateLimitExceeded => limit::RATE_LIMIT_EXCEEDED,
        Code::RawDidRejected => request::RAW_DID_REJECTED,
        Code::RequestTimeout => service::REQUEST_TIMEOUT,
        Code::ServiceUnavailable => service::SERVICE_UNAVAILABLE,
        Code::Unauthorized => caller::UNAUTHORIZED,
        Code::UnsupportedMediaType => request::UNSUPPORTED_MEDIA_TYPE,
        Code::WebhookNotFound => thing::WEBHOOK_NOT_FOUND,
    }
}

/// Every code by status, and by name within one.
pub fn in_order() -> Vec<Code> {
    let mut codes = Code::ALL.to_vec();
    codes.sort_by_key(|code| (crate::http::status_and_title(*code).0, code.as_str()));
    codes
}

/// The request that every example answers.
pub const EXAMPLE_REQUEST: &str = "req_01m7ye92t7e4zbxb47adw6nrkn";
