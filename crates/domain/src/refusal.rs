//! Every refusal that a caller can meet, with the contract's codes. Which HTTP status belongs to a code is the
//! server's affair.

use std::{fmt, time::Duration};

use crate::{CircuitReport, KeyStatus, UnmetThreshold};

/// A limit's window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Window {
    /// Requests in a day of UTC.
    Day,
    /// Requests in a minute of UTC.
    Minute,
    /// Messages a second.
    Second,
}

/// The `code` member of an error body.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the contract's table of errors says what each code means")]
pub enum Code {
    BadgeDeniedDrift,
    BadgeDeniedThresholds,
    ComplianceCircuitFailed,
    EnvelopeNotFound,
    GovernanceBlocked,
    HandleTaken,
    IdempotencyKeyReused,
    InternalError,
    InvalidField,
    InvalidJson,
    KeyInactive,
    KeyNotFound,
    MethodNotAllowed,
    MissingField,
    MonthlyLimitExceeded,
    NotFound,
    PayloadTooLarge,
    QuotaExceeded,
    RateLimitExceeded,
    RawDidRejected,
    RequestTimeout,
    ServiceUnavailable,
    Unauthorized,
    UnsupportedMediaType,
    WebhookNotFound,
}

impl Code {
    /// The code as the contract writes it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::BadgeDeniedDrift => "BADGE_DENIED_DRIFT",
            Self::BadgeDeniedThresholds => "BADGE_DENIED_THRESHOLDS",
            Self::ComplianceCircuitFailed => "COMPLIANCE_CIRCUIT_FAILED",
            Self::EnvelopeNotFound => "ENVELOPE_NOT_FOUND",
            Self::GovernanceBlocked => "GOVERNANCE_BLOCKED",
            Self::HandleTaken => "HANDLE_TAKEN",
            Self::IdempotencyKeyReused => "IDEMPOTENCY_KEY_REUSED",
            Self::InternalError => "INTERNAL_ERROR",
            Self::InvalidField => "INVALID_FIELD",
            Self::InvalidJson => "INVALID_JSON",
            Self::KeyInactive => "KEY_INACTIVE",
            Self::KeyNotFound => "KEY_NOT_FOUND",
            Self::MethodNotAllowed => "METHOD_NOT_ALLOWED",
            Self::MissingField => "MISSING_FIELD",
            Self::MonthlyLimitExceeded => "MONTHLY_LIMIT_EXCEEDED",
            Self::NotFound => "NOT_FOUND",
            Self::PayloadTooLarge => "PAYLOAD_TOO_LARGE",
            Self::QuotaExceeded => "QUOTA_EXCEEDED",
            Self::RateLimitExceeded => "RATE_LIMIT_EXCEEDED",
            Self::RawDidRejected => "RAW_DID_REJECTED",
            Self::RequestTimeout => "REQUEST_TIMEOUT",
            Self::ServiceUnavailable => "SERVICE_UNAVAILABLE",
            Self::Unauthorized => "UNAUTHORIZED",
            Self::UnsupportedMediaType => "UNSUPPORTED_MEDIA_TYPE",
            Self::WebhookNotFound => "WEBHOOK_NOT_FOUND",
        }
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Why a request is refused. Its text says what the caller can do about it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// Drift exceeds the hard limit.
    #[error("{}, the hard limit; {}", unmet_detail(_0), NEW_ASSESSMENT)]
    BadgeDeniedDrift(UnmetThreshold),
    /// Thresholds are not met.
    #[error("{}", thresholds_detail(_0))]
    BadgeDeniedThresholds(Vec<UnmetThreshold>),
    /// A compliance circuit does not hold.
    #[error(
        "the compliance circuit of {} does not hold; have the required checks that have not passed attested",
        _0.jurisdiction
    )]
    ComplianceCircuitFailed(CircuitReport),
    /// No such envelope for this recipient; somebody else's looks the same.
    #[error(
        "no envelope with this id is addressed to this API key; use the envelope_id that your webhook received"
    )]
    EnvelopeNotFound,
    /// Governance blocks the caller, or the recipient where `field` names it.
    #[error("{}", governance_detail(*field))]
    GovernanceBlocked {
        /// `to` where the recipient is blocked.
        field: Option<&'static str>,
    },
    /// The handle belongs to another account, or to a live key.
    #[error(
        "this handle belongs to another account or to a key that is not revoked; choose another one"
    )]
    HandleTaken,
    /// The idempotency key came before with another request.
    #[error("this Idempotency-Key came before with another body; use a new one for a new message")]
    IdempotencyKeyReused,
    /// A field has the wrong type or an unacceptable value.
    #[error("{field} {problem}")]
    InvalidField {
        /// Which field.
        field: &'static str,
        /// What is wrong with it, as a clause that follows its name.
        problem: String,
    },
    /// The body is not a JSON object.
    #[error("the body must be a JSON object")]
    InvalidJson,
    /// The caller's key is not active, or the recipient's where `field` names it.
    #[error("{}", inactive_detail(*status, *field))]
    KeyInactive {
        /// Where the key stands.
        status: KeyStatus,
        /// `to` where it is the recipient's.
        field: Option<&'static str>,
    },
    /// No such key or handle.
    #[error("{}", unknown_key_detail(*field))]
    KeyNotFound {
        /// `to` where it is the recipient's.
        field: Option<&'static str>,
    },
    /// A required field is missing, null or empty.
    #[error("the required field {field} is missing or empty")]
    MissingField {
        /// Which field.
        field: &'static str,
    },
    /// The monthly allowance is used up.
    #[error("the plan's {limit} messages of this month are used up; {way_out}")]
    MonthlyLimitExceeded {
        /// The plan's allowance.
        limit: u32,
        /// What the plan offers beyond it.
        way_out: &'static str,
        /// How long until the next month.
        retry_after: Duration,
    },
    /// The message is over the limit.
    #[error("the message is over the limit of {limit_bytes} bytes; send less or split it")]
    MessageTooLarge {
        /// The limit.
        limit_bytes: usize,
    },
    /// A cap that is no rate is reached.
    #[error("this would be more than {limit} {what}; {way_out}")]
    QuotaExceeded {
        /// The cap.
        limit: u32,
        /// What is capped.
        what: &'static str,
        /// What makes room.
        way_out: &'static str,
    },
    /// A rate limit of the plan is reached.
    #[error("{}", rate_detail(*window, *limit, *retry_after))]
    RateLimited {
        /// Which limit.
        window: Window,
        /// The plan's number.
        limit: u32,
        /// How long until the same request can succeed.
        retry_after: Duration,
    },
    /// A raw DID stands where a key or a handle is required.
    #[error(
        "a raw DID is not accepted as a recipient; name the recipient's API key (ak_...) or handle"
    )]
    RawDidRejected,
    /// No valid session, no key named, or somebody else's key.
    #[error("{0}")]
    Unauthorized(&'static str),
    /// The service cannot do it now and has stored nothing.
    #[error("the service cannot take this request now and has stored nothing; try again")]
    Unavailable,
    /// No such webhook for this key; somebody else's looks the same.
    #[error("this API key has no webhook with this id; use the action list to see them")]
    WebhookNotFound,
}

impl Refusal {
    /// The contract's code.
    pub const fn code(&self) -> Code {
        match self {
            Self::BadgeDeniedDrift(_) => Code::BadgeDeniedDrift,
            Self::BadgeDeniedThresholds(_) => Code::BadgeDeniedThresholds,
            Self::ComplianceCircuitFailed(_) => Code::ComplianceCircuitFailed,
            Self::EnvelopeNotFound => Code::EnvelopeNotFound,
            Self::GovernanceBlocked { .. } => Code::GovernanceBlocked,
            Self::HandleTaken => Code::HandleTaken,
            Self::IdempotencyKeyReused => Code::IdempotencyKeyReused,
            Self::InvalidField { .. } => Code::InvalidField,
            Self::InvalidJson => Code::InvalidJson,
            Self::KeyInactive { .. } => Code::KeyInactive,
            Self::KeyNotFound { .. } => Code::KeyNotFound,
            Self::MessageTooLarge { .. } => Code::PayloadTooLarge,
            Self::MissingField { .. } => Code::MissingField,
            Self::MonthlyLimitExceeded { .. } => Code::MonthlyLimitExceeded,
            Self::QuotaExceeded { .. } => Code::QuotaExceeded,
            Self::RateLimited { .. } => Code::RateLimitExceeded,
            Self::RawDidRejected => Code::RawDidRejected,
            Self::Unauthorized(_) => Code::Unauthorized,
            Self::Unavailable => Code::ServiceUnavailable,
            Self::WebhookNotFound => Code::WebhookNotFound,
        }
    }

    /// The bounds that are not kept, where a badge is denied for them.
    pub fn unmet(&self) -> Option<&[UnmetThreshold]> {
        match self {
            Self::BadgeDeniedDrift(over) => Some(std::slice::from_ref(over)),
            Self::BadgeDeniedThresholds(unmet) => Some(unmet),
            _ => None,
        }
    }

    /// How the key stands to the circuit that does not hold.
    pub const fn circuit(&self) -> Option<&CircuitReport> {
        match self {
            Self::ComplianceCircuitFailed(report) => Some(report),
            _ => None,
        }
    }

    /// The field at fault, where one is.
    pub const fn field(&self) -> Option<&'static str> {
        match self {
            Self::GovernanceBlocked { field }
            | Self::KeyInactive { field, .. }
            | Self::KeyNotFound { field } => *field,
            Self::HandleTaken => Some("handle"),
            Self::InvalidField { field, .. } | Self::MissingField { field } => Some(field),
            Self::MessageTooLarge { .. } => Some("message"),
            Self::RawDidRejected => Some("to"),
            _ => None,
        }
    }

    /// Whole seconds until the same request can succeed, where that is known: what `Retry-After` says.
    pub const fn retry_after_s(&self) -> Option<u64> {
        match self {
            Self::MonthlyLimitExceeded { retry_after, .. }
            | Self::RateLimited { retry_after, .. } => Some(whole_seconds(*retry_after)),
            Self::Unavailable | Self::KeyInactive { status: KeyStatus::Rotating, .. } => Some(1),
            _ => None,
        }
    }
}

fn governance_detail(field: Option<&str>) -> &'static str {
    match field {
        None => {
            "governance blocks this API key; see governance in /v1/did/status and ask the operator"
        }
        Some(_) => {
            "governance blocks the recipient; nothing can be sent to it until that is lifted"
        }
    }
}

fn inactive_detail(status: KeyStatus, field: Option<&str>) -> &'static str {
    match (status, field) {
        (KeyStatus::Revoked, None) => {
            "this API key is revoked for good; activate a new one and register its webhooks again"
        }
        (KeyStatus::Rotating, None) => {
            "this API key is being rotated; this is temporary, try again shortly"
        }
        (_, None) => "this API key is deactivated; ask the operator to reactivate it",
        (KeyStatus::Revoked, Some(_)) => {
            "the recipient is revoked for good; ask it for its new API key"
        }
        (KeyStatus::Rotating, Some(_)) => {
            "the recipient is being rotated; this is temporary, try again shortly"
        }
        (_, Some(_)) => "the recipient is deactivated and cannot receive",
    }
}

fn thresholds_detail(unmet: &[UnmetThreshold]) -> String {
    let each = unmet.iter().map(unmet_detail).collect::<Vec<_>>().join(", ");
    if unmet.iter().all(|one| one.value.is_none()) {
        return format!(
            "this API key was never assessed: {each}; ask the operator for an assessment"
        );
    }
    format!("{each}; {NEW_ASSESSMENT}")
}

fn unmet_detail(UnmetThreshold { metric, value, bound, must_be }: &UnmetThreshold) -> String {
    let metric = metric.as_str();
    match value {
        None => format!("{metric} must be {must_be} {bound}"),
        Some(value) => format!("{metric} is {value} and must be {must_be} {bound}"),
    }
}

fn unknown_key_detail(field: Option<&str>) -> &'static str {
    match field {
        None => "no such API key; use the api_key_id that activation returned",
        Some(_) => {
            "no API key or handle has this name; ask the recipient for its API key or handle"
        }
    }
}

fn rate_detail(window: Window, limit: u32, retry_after: Duration) -> String {
    let per = match window {
        Window::Day => "requests a day",
        Window::Minute => "requests a minute",
        Window::Second => "messages a second",
    };
    let wait_s = whole_seconds(retry_after);
    format!("the plan's limit of {limit} {per} is reached; try again in {wait_s} s")
}

/// Rounded up and never zero.
const fn whole_seconds(span: Duration) -> u64 {
    let up = if span.subsec_nanos() > 0 { 1 } else { 0 };
    let seconds = span.as_secs().saturating_add(up);
    if seconds == 0 { 1 } else { seconds }
}

const NEW_ASSESSMENT: &str = "ask for a new assessment when the cause is mended";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{AssessmentMetrics, BadgeDenial, check_thresholds};

    #[test]
    fn what_denies_a_badge_is_named_with_its_value_and_its_bound() {
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
            "drift is 0.31 and must be <= 0.3, the hard limit; ask for a new assessment when the cause is mended"
        );
        assert_eq!(
            denied(Some(["0.7499", "0.7", "0.85", "0.2"])),
            "clarity is 0.7499 and must be >= 0.75, confidence is 0.85 and must be >= 0.9, drift is 0.2 and must \
             be <= 0.1; ask for a new assessment when the cause is mended"
        );
        assert_eq!(
            denied(None),
            "this API key was never assessed: clarity must be >= 0.75, coherence must be >= 0.7, confidence must be \
             >= 0.9, drift must be <= 0.1; ask the operator for an assessment"
        );
    }

    #[test]
    fn waiting_is_rounded_up_to_whole_seconds() {
        assert_eq!(whole_seconds(Duration::ZERO), 1);
        assert_eq!(whole_seconds(Duration::from_millis(999)), 1);
        assert_eq!(whole_seconds(Duration::from_millis(1001)), 2);
        assert_eq!(whole_seconds(Duration::from_secs(35)), 35);
    }

    #[test]
    fn a_rotating_key_is_worth_another_try_and_a_revoked_one_is_not() {
        let refusal = |status| Refusal::KeyInactive { status, field: None };
        assert!(refusal(KeyStatus::Rotating).retry_after_s().is_some());
        assert!(refusal(KeyStatus::Revoked).retry_after_s().is_none());
    }
}
