//! All refusals of the API with their codes. The API crate maps codes to HTTP statuses.

use std::time::Duration;

use super::{code::Code, detail};
use crate::{CircuitReport, KeyStatus, TokenScope, UnmetThreshold, Window};

/// Why a request is refused. `Display` gives the `detail` of the problem document: the reason, and
/// what the caller can do.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The service opens no new accounts.
    #[error(
        "sign-up is closed: this service opens no new accounts; with a session token an existing account can activate further identities"
    )]
    ActivationClosed,
    /// The drift metric of the key is above its hard limit.
    #[error("{}", detail::drift(_0))]
    BadgeDeniedDrift(UnmetThreshold),
    /// The metrics of the key miss at least one badge threshold.
    #[error("{}", detail::thresholds(_0))]
    BadgeDeniedThresholds(Vec<UnmetThreshold>),
    /// The attestations of the key do not satisfy a compliance circuit.
    #[error(
        "the compliance circuit of {} did not pass; ask the operator to attest its required checks",
        _0.jurisdiction
    )]
    ComplianceCircuitFailed(CircuitReport),
    /// The envelope does not exist or has another recipient. Both cases look the same.
    #[error(
        "no envelope with this id is addressed to this API key; use the envelope_id of an event that your webhook received"
    )]
    EnvelopeNotFound,
    /// Governance blocks the caller, or the recipient if `field` is `to`.
    #[error("{}", detail::governance(*field))]
    GovernanceBlocked {
        /// `to` if the recipient is blocked; `None` if the caller is blocked.
        field: Option<&'static str>,
    },
    /// The handle belongs to another account, or to a key that is not revoked.
    #[error(
        "this handle belongs to another account or to a key that is not revoked; choose another handle"
    )]
    HandleTaken,
    /// The idempotency key was used with another request.
    #[error(
        "this Idempotency-Key was already used with a different body; use a new one for a new message"
    )]
    IdempotencyKeyReused,
    /// The handle is reserved for the operator.
    #[error("this handle is reserved for the operator of the service; choose another handle")]
    HandleReserved,
    /// The API token does not allow the request.
    #[error("{}", detail::insufficient_scope(needed))]
    InsufficientScope {
        /// The scopes that allow the request. Empty if only a session allows it.
        needed: &'static [TokenScope],
    },
    /// A field has the wrong type or an invalid value.
    #[error("{field} {problem}")]
    InvalidField {
        /// Name of the field.
        field: &'static str,
        /// The problem, as a clause that follows the field's name.
        problem: String,
    },
    /// The body is not a JSON object.
    #[error("the body must be a JSON object, such as {{\"label\": \"Alice\"}}")]
    InvalidJson,
    /// The invite cannot be used. The reasons look the same, so that a caller learns nothing about
    /// invites of others.
    #[error(
        "this invite does not exist, is used up, has expired or was revoked; ask the operator of the service for a new one"
    )]
    InviteInvalid,
    /// A new account needs an invite.
    #[error(
        "a new account needs an invite; ask the operator of the service for one, and send it as the member invite"
    )]
    InviteRequired,
    /// The caller's key is not active, or the recipient's key if `field` is `to`.
    #[error("{}", detail::inactive(*status, *field))]
    KeyInactive {
        /// State of the key.
        status: KeyStatus,
        /// `to` for the recipient's key; `None` for the caller's key.
        field: Option<&'static str>,
    },
    /// The key or handle does not exist.
    #[error("{}", detail::unknown_key(*field))]
    KeyNotFound {
        /// `to` for the recipient's key or handle; `None` for the caller's key.
        field: Option<&'static str>,
    },
    /// A required field is missing, null or empty.
    #[error("the required field {field} is missing or empty")]
    MissingField {
        /// Name of the field.
        field: &'static str,
    },
    /// The monthly allowance is used up.
    #[error("{}", detail::monthly_limit(*limit, way_out))]
    MonthlyLimitExceeded {
        /// Allowance of the plan, in messages per month.
        limit: u32,
        /// The remedy for the caller, as a clause of the error text.
        way_out: &'static str,
        /// Time until the next month.
        retry_after: Duration,
    },
    /// The message is too large.
    #[error("the message is larger than {limit_bytes} bytes; shorten it or split it")]
    MessageTooLarge {
        /// The limit in bytes.
        limit_bytes: usize,
    },
    /// The maximum number of some objects, such as webhooks of a key, is reached.
    #[error("the limit of {limit} for {what} is reached; {way_out}")]
    QuotaExceeded {
        /// Maximum number of the objects.
        limit: u32,
        /// The counted objects, as a plural noun phrase.
        what: &'static str,
        /// The remedy for the caller, as a clause of the error text.
        way_out: &'static str,
    },
    /// A rate limit of the plan is reached.
    #[error("{}", detail::rate_limit(*window, *limit, *retry_after))]
    RateLimited {
        /// The window that the limit applies to.
        window: Window,
        /// Maximum number of requests or messages in the window.
        limit: u32,
        /// Time until the same request can succeed.
        retry_after: Duration,
    },
    /// A raw DID was used in place of an API key or handle.
    #[error("{}", detail::raw_did(field))]
    RawDidRejected {
        /// Name of the field.
        field: &'static str,
    },
    /// The recipient's policy refuses messages from the sender. All reasons look the same, so that a sender does not
    /// learn whether it is blocked.
    #[error(
        "the recipient does not accept messages from this API key; ask the recipient to allow it"
    )]
    RecipientRefuses,
    /// The API token does not exist or belongs to another account. Both cases look the same.
    #[error(
        "this account has no API token with this id; list its tokens with POST /v1/auth/tokens/list"
    )]
    TokenNotFound,
    /// Authentication failed. Contains the reason, which becomes the `detail`.
    #[error("{0}")]
    Unauthorized(&'static str),
    /// The body is not JSON.
    #[error(
        "the body is not valid JSON: {problem} at line {line}, column {column}; send a JSON object"
    )]
    MalformedJson {
        /// The line of the error, from 1.
        line: usize,
        /// The column of the error, in bytes.
        column: usize,
        /// The error and what the parser expected, without any part of the body.
        problem: String,
    },
    /// The body has a member that the endpoint does not know.
    #[error("{field} is an unknown field; did you mean {nearest}?")]
    UnknownField {
        /// The unknown member, shortened if it is long.
        field: String,
        /// The known member with the most similar name.
        nearest: &'static str,
    },
    /// The disk of the embedded database is almost full.
    #[error(
        "the disk of the service is almost full, so it stores no messages and opens no identities until the operator frees space; nothing was stored; try again later"
    )]
    StorageFull,
    /// The envelopes of the account's keys use up its storage.
    #[error(
        "with this message the account would store more than {limit_bytes} bytes of sealed envelopes; wait until older envelopes are deleted, or ask the operator for more"
    )]
    StorageQuotaExceeded {
        /// The quota in bytes.
        limit_bytes: u64,
    },
    /// The service cannot process the request now. Nothing was stored.
    #[error("the service cannot process this request now and stored nothing; try again")]
    Unavailable,
    /// The webhook does not exist or belongs to another key. Both cases look the same.
    #[error("this API key has no webhook with this id; list its webhooks with the action `list`")]
    WebhookNotFound,
}

impl Refusal {
    /// Returns the code of the problem document.
    pub const fn code(&self) -> Code {
        match self {
            Self::ActivationClosed | Self::InviteInvalid | Self::InviteRequired => {
                Code::ActivationRefused
            }
            Self::BadgeDeniedDrift(_) => Code::BadgeDeniedDrift,
            Self::BadgeDeniedThresholds(_) => Code::BadgeDeniedThresholds,
            Self::ComplianceCircuitFailed(_) => Code::ComplianceCircuitFailed,
            Self::EnvelopeNotFound => Code::EnvelopeNotFound,
            Self::GovernanceBlocked { .. } => Code::GovernanceBlocked,
            Self::HandleTaken => Code::HandleTaken,
            Self::IdempotencyKeyReused => Code::IdempotencyKeyReused,
            Self::HandleReserved | Self::InvalidField { .. } | Self::UnknownField { .. } => {
                Code::InvalidField
            }
            Self::InsufficientScope { .. } => Code::InsufficientScope,
            Self::InvalidJson | Self::MalformedJson { .. } => Code::InvalidJson,
            Self::KeyInactive { .. } => Code::KeyInactive,
            Self::KeyNotFound { .. } => Code::KeyNotFound,
            Self::MessageTooLarge { .. } => Code::PayloadTooLarge,
            Self::MissingField { .. } => Code::MissingField,
            Self::MonthlyLimitExceeded { .. } => Code::MonthlyLimitExceeded,
            Self::QuotaExceeded { .. } | Self::StorageQuotaExceeded { .. } => Code::QuotaExceeded,
            Self::RateLimited { .. } => Code::RateLimitExceeded,
            Self::RawDidRejected { .. } => Code::RawDidRejected,
            Self::RecipientRefuses => Code::RecipientRefuses,
            Self::TokenNotFound => Code::TokenNotFound,
            Self::Unauthorized(_) => Code::Unauthorized,
            Self::StorageFull | Self::Unavailable => Code::ServiceUnavailable,
            Self::WebhookNotFound => Code::WebhookNotFound,
        }
    }

    /// Returns the unmet thresholds of a denied badge.
    pub fn unmet(&self) -> Option<&[UnmetThreshold]> {
        match self {
            Self::BadgeDeniedDrift(over) => Some(std::slice::from_ref(over)),
            Self::BadgeDeniedThresholds(unmet) => Some(unmet),
            _ => None,
        }
    }

    /// Returns the result of a circuit that did not pass.
    pub const fn circuit(&self) -> Option<&CircuitReport> {
        match self {
            Self::ComplianceCircuitFailed(report) => Some(report),
            _ => None,
        }
    }

    /// Returns the name of the invalid field, if there is one.
    pub const fn field(&self) -> Option<&str> {
        match self {
            Self::GovernanceBlocked { field }
            | Self::KeyInactive { field, .. }
            | Self::KeyNotFound { field } => *field,
            Self::HandleReserved | Self::HandleTaken => Some("handle"),
            Self::InvalidField { field, .. }
            | Self::MissingField { field }
            | Self::RawDidRejected { field } => Some(field),
            Self::InviteInvalid | Self::InviteRequired => Some("invite"),
            Self::MessageTooLarge { .. } => Some("message"),
            Self::RecipientRefuses => Some("to"),
            Self::UnknownField { field, .. } => Some(field.as_str()),
            _ => None,
        }
    }

    /// Returns the seconds for the `Retry-After` header, if known: after that time the same request
    /// can succeed.
    pub const fn retry_after_s(&self) -> Option<u64> {
        match self {
            Self::MonthlyLimitExceeded { retry_after, .. }
            | Self::RateLimited { retry_after, .. } => Some(detail::whole_seconds(*retry_after)),
            Self::StorageFull => Some(60),
            Self::Unavailable | Self::KeyInactive { status: KeyStatus::Rotating, .. } => Some(1),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{AssessmentMetrics, BadgeDenial, check_thresholds};

    #[test]
    fn a_denied_badge_names_each_unmet_threshold_with_value_and_limit() {
        let denied = |found: Option<[&str; 4]>| {
            let metrics = found.map(|found| {
                let [clarity, coherence, confidence, drift] = found.map(|it| it.parse().unwrap());
                AssessmentMetrics { clarity, coherence, confidence, drift }
            });
            match check_thresholds(metrics.as_ref()).unwrap_err() {
                BadgeDenial::Drift(over) => Refusal::BadgeDeniedDrift(over).to_string(),
                BadgeDenial::Thresholds(unmet) => Refusal::BadgeDeniedThresholds(unmet).to_string(),
            }
        };
        assert_eq!(
            denied(Some(["0.1", "1", "1", "0.31"])),
            "drift is 0.31 and must be <= 0.3, the hard limit; fix the cause, then ask the operator for a new assessment"
        );
        assert_eq!(
            denied(Some(["0.7499", "0.7", "0.85", "0.2"])),
            "clarity is 0.7499 and must be >= 0.75, confidence is 0.85 and must be >= 0.9, drift is 0.2 and must \
             be <= 0.1; fix the cause, then ask the operator for a new assessment"
        );
        assert_eq!(
            denied(None),
            "this API key was never assessed: clarity must be >= 0.75, coherence must be >= 0.7, confidence must be \
             >= 0.9, drift must be <= 0.1; ask the operator for an assessment"
        );
    }

    #[test]
    fn a_rotating_key_allows_a_retry_and_a_revoked_key_does_not() {
        let refusal = |status| Refusal::KeyInactive { status, field: None };
        assert!(refusal(KeyStatus::Rotating).retry_after_s().is_some());
        assert!(refusal(KeyStatus::Revoked).retry_after_s().is_none());
    }
    #[test]
    fn details_use_singular_and_plural() {
        let wait = Duration::from_secs(35);
        let monthly = |limit| {
            let way_out = "upgrade the plan";
            Refusal::MonthlyLimitExceeded { limit, way_out, retry_after: wait }.to_string()
        };
        assert_eq!(
            monthly(1),
            "the plan's limit of 1 message per month is reached; upgrade the plan"
        );
        assert_eq!(
            monthly(1000),
            "the plan's limit of 1000 messages per month is reached; upgrade the plan"
        );
        let rate =
            |window, limit| Refusal::RateLimited { window, limit, retry_after: wait }.to_string();
        assert_eq!(
            rate(Window::Day, 1),
            "the plan's limit of 1 request per day is reached; try again in 35 s"
        );
        assert_eq!(
            rate(Window::Second, 10),
            "the plan's limit of 10 messages per second is reached; try again in 35 s"
        );
    }
}
