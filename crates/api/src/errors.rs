//! The documentation of each error code: summary, causes, remedies, and advice about retries. This documentation is the
//! source of the pages at `/docs/errors`, the OpenAPI examples and `docs/errors.md`.

mod badge;
mod credentials;
mod limits;
mod not_found;
mod operator;
mod request;
mod service;

use sealpost_domain::Code;

use crate::response::{Problem, status_and_title};

/// The documentation of one error code.
pub struct ErrorDocumentation {
    /// The meaning of the code in one sentence.
    pub summary: &'static str,
    /// The situations that cause this error, in Markdown.
    pub causes: &'static [&'static str],
    /// The steps that solve the problem, in Markdown.
    pub remedies: &'static [&'static str],
    /// Advice about repeating the same request.
    pub retry: Retry,
    /// Creates an example of an error with this code.
    pub example: fn() -> Problem,
}

/// Advice about repeating the same request. After an internal error, the service may have stored the request. After any
/// other error, it has stored nothing, so a retry cannot perform the request twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Retry {
    /// Retry after the time in `Retry-After`.
    AfterWaiting,
    /// Retry at once.
    AtOnce,
    /// Retry only after a change, because the same request would be refused again.
    Changed,
    /// Retry safely only with an `Idempotency-Key`, because the request may have been stored.
    Idempotent,
}

impl Retry {
    /// Returns the advice in few words, for lists. Markdown.
    pub const fn summary(self) -> &'static str {
        match self {
            Self::AfterWaiting => "after waiting",
            Self::AtOnce => "yes",
            Self::Changed => "after a change",
            Self::Idempotent => "with `Idempotency-Key`",
        }
    }

    /// Returns the advice as Markdown text.
    pub const fn advice(self) -> &'static str {
        match self {
            Self::AfterWaiting => {
                "Yes, after the seconds in `Retry-After`. The service stored nothing, so nothing happens twice."
            }
            Self::AtOnce => {
                "Yes. The service stored nothing, so nothing happens twice. Wait longer before each further retry."
            }
            Self::Changed => {
                "It is safe, because the service stored nothing. But the same request gets the same response until \
                 something changes."
            }
            Self::Idempotent => {
                "A send with an `Idempotency-Key`: yes, the message is sent once, whatever the number of retries. Without \
                 the header, check first: the service may have stored the request."
            }
        }
    }
}

/// Returns the documentation of an error code.
pub const fn documentation(code: Code) -> ErrorDocumentation {
    match code {
        Code::ActionRefused => operator::ACTION_REFUSED,
        Code::ActivationRefused => credentials::ACTIVATION_REFUSED,
        Code::BadgeDeniedDrift => badge::BADGE_DENIED_DRIFT,
        Code::BadgeDeniedThresholds => badge::BADGE_DENIED_THRESHOLDS,
        Code::ComplianceCircuitFailed => badge::COMPLIANCE_CIRCUIT_FAILED,
        Code::EnvelopeNotFound => not_found::ENVELOPE_NOT_FOUND,
        Code::GovernanceBlocked => credentials::GOVERNANCE_BLOCKED,
        Code::HandleTaken => not_found::HANDLE_TAKEN,
        Code::HeadersTooLarge => limits::HEADERS_TOO_LARGE,
        Code::IdempotencyKeyReused => request::IDEMPOTENCY_KEY_REUSED,
        Code::InsufficientRole => operator::INSUFFICIENT_ROLE,
        Code::InsufficientScope => credentials::INSUFFICIENT_SCOPE,
        Code::InternalError => service::INTERNAL_ERROR,
        Code::InvalidField => request::INVALID_FIELD,
        Code::InvalidHttp => request::INVALID_HTTP,
        Code::InvalidJson => request::INVALID_JSON,
        Code::KeyInactive => credentials::KEY_INACTIVE,
        Code::KeyNotFound => credentials::KEY_NOT_FOUND,
        Code::MethodNotAllowed => request::METHOD_NOT_ALLOWED,
        Code::MissingField => request::MISSING_FIELD,
        Code::MonthlyLimitExceeded => limits::MONTHLY_LIMIT_EXCEEDED,
        Code::NotFound => not_found::NOT_FOUND,
        Code::PayloadTooLarge => limits::PAYLOAD_TOO_LARGE,
        Code::QuotaExceeded => limits::QUOTA_EXCEEDED,
        Code::RateLimitExceeded => limits::RATE_LIMIT_EXCEEDED,
        Code::RawDidRejected => request::RAW_DID_REJECTED,
        Code::RecipientRefuses => credentials::RECIPIENT_REFUSES,
        Code::RequestTimeout => service::REQUEST_TIMEOUT,
        Code::ServiceUnavailable => service::SERVICE_UNAVAILABLE,
        Code::SubjectNotFound => operator::SUBJECT_NOT_FOUND,
        Code::TokenNotFound => not_found::TOKEN_NOT_FOUND,
        Code::Unauthorized => credentials::UNAUTHORIZED,
        Code::UnsupportedMediaType => request::UNSUPPORTED_MEDIA_TYPE,
        Code::UpgradeRequired => request::UPGRADE_REQUIRED,
        Code::WebhookNotFound => not_found::WEBHOOK_NOT_FOUND,
    }
}

/// Returns all error codes, sorted by HTTP status and then by name.
pub fn in_order() -> Vec<Code> {
    let mut codes = Code::ALL.to_vec();
    codes.sort_by_key(|code| (status_and_title(*code).0, code.as_str()));
    codes
}

/// The request id in all example error responses.
pub const EXAMPLE_REQUEST: &str = "req_01m7ye92t7e4zbxb47adw6nrkn";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_example_has_its_code() {
        for code in Code::ALL {
            let problem = (documentation(code).example)();
            let document =
                serde_json::to_value(problem.document("http://x", EXAMPLE_REQUEST)).unwrap();
            assert_eq!(document["code"], code.as_str());
        }
    }

    #[test]
    fn each_code_has_causes_and_remedies() {
        for code in Code::ALL {
            let ErrorDocumentation { summary, causes, remedies, .. } = documentation(code);
            let texts =
                [summary].into_iter().chain(causes.iter().copied()).chain(remedies.iter().copied());
            assert!(!causes.is_empty() && !remedies.is_empty(), "{code}");
            for text in texts {
                assert!(
                    text.ends_with('.') && text.matches('`').count() % 2 == 0,
                    "{code}: {text}"
                );
            }
        }
    }
}
