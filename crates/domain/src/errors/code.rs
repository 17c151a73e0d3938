//! The error codes of refused requests, with their names in JSON and their JSON schema.

use std::{borrow::Cow, fmt};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// The error code in the body of an error response: the `code` member of a problem document (RFC 9457).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the contract's table of errors says what each code means")]
pub enum Code {
    ActionRefused,
    ActivationRefused,
    BadgeDeniedDrift,
    BadgeDeniedThresholds,
    ComplianceCircuitFailed,
    EnvelopeNotFound,
    GovernanceBlocked,
    HandleTaken,
    HeadersTooLarge,
    IdempotencyKeyReused,
    InsufficientRole,
    InsufficientScope,
    InternalError,
    InvalidField,
    InvalidHttp,
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
    RecipientRefuses,
    RequestTimeout,
    ServiceUnavailable,
    SubjectNotFound,
    TokenNotFound,
    Unauthorized,
    UnsupportedMediaType,
    UpgradeRequired,
    WebhookNotFound,
}

impl Code {
    /// All error codes, in the order of the enum.
    pub const ALL: [Self; 35] = [
        Self::ActionRefused,
        Self::ActivationRefused,
        Self::BadgeDeniedDrift,
        Self::BadgeDeniedThresholds,
        Self::ComplianceCircuitFailed,
        Self::EnvelopeNotFound,
        Self::GovernanceBlocked,
        Self::HandleTaken,
        Self::HeadersTooLarge,
        Self::IdempotencyKeyReused,
        Self::InsufficientRole,
        Self::InsufficientScope,
        Self::InternalError,
        Self::InvalidField,
        Self::InvalidHttp,
        Self::InvalidJson,
        Self::KeyInactive,
        Self::KeyNotFound,
        Self::MethodNotAllowed,
        Self::MissingField,
        Self::MonthlyLimitExceeded,
        Self::NotFound,
        Self::PayloadTooLarge,
        Self::QuotaExceeded,
        Self::RateLimitExceeded,
        Self::RawDidRejected,
        Self::RecipientRefuses,
        Self::RequestTimeout,
        Self::ServiceUnavailable,
        Self::SubjectNotFound,
        Self::TokenNotFound,
        Self::Unauthorized,
        Self::UnsupportedMediaType,
        Self::UpgradeRequired,
        Self::WebhookNotFound,
    ];

    /// Returns true if only the API for operators returns this code.
    pub const fn is_for_operators(self) -> bool {
        matches!(self, Self::ActionRefused | Self::InsufficientRole | Self::SubjectNotFound)
    }

    /// Returns the codes of the public API.
    pub fn public() -> impl Iterator<Item = Self> {
        Self::ALL.into_iter().filter(|code| !code.is_for_operators())
    }

    /// Returns the name of the error code in JSON, in upper case.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ActionRefused => "ACTION_REFUSED",
            Self::ActivationRefused => "ACTIVATION_REFUSED",
            Self::BadgeDeniedDrift => "BADGE_DENIED_DRIFT",
            Self::BadgeDeniedThresholds => "BADGE_DENIED_THRESHOLDS",
            Self::ComplianceCircuitFailed => "COMPLIANCE_CIRCUIT_FAILED",
            Self::EnvelopeNotFound => "ENVELOPE_NOT_FOUND",
            Self::GovernanceBlocked => "GOVERNANCE_BLOCKED",
            Self::HandleTaken => "HANDLE_TAKEN",
            Self::HeadersTooLarge => "HEADERS_TOO_LARGE",
            Self::IdempotencyKeyReused => "IDEMPOTENCY_KEY_REUSED",
            Self::InsufficientRole => "INSUFFICIENT_ROLE",
            Self::InsufficientScope => "INSUFFICIENT_SCOPE",
            Self::InternalError => "INTERNAL_ERROR",
            Self::InvalidField => "INVALID_FIELD",
            Self::InvalidHttp => "INVALID_HTTP",
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
            Self::RecipientRefuses => "RECIPIENT_REFUSES",
            Self::RequestTimeout => "REQUEST_TIMEOUT",
            Self::ServiceUnavailable => "SERVICE_UNAVAILABLE",
            Self::SubjectNotFound => "SUBJECT_NOT_FOUND",
            Self::TokenNotFound => "TOKEN_NOT_FOUND",
            Self::Unauthorized => "UNAUTHORIZED",
            Self::UnsupportedMediaType => "UNSUPPORTED_MEDIA_TYPE",
            Self::UpgradeRequired => "UPGRADE_REQUIRED",
            Self::WebhookNotFound => "WEBHOOK_NOT_FOUND",
        }
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for Code {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        let code = Self::ALL.into_iter().find(|code| code.as_str() == name);
        code.ok_or_else(|| de::Error::custom("an unknown error code"))
    }
}

impl Serialize for Code {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl JsonSchema for Code {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Code".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let codes: Vec<_> = Self::public().map(Self::as_str).collect();
        json_schema!({ "type": "string", "enum": codes })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[expect(clippy::as_conversions, reason = "the place of a variant is known by it alone")]
    fn all_codes_are_listed_in_order() {
        for (place, code) in Code::ALL.into_iter().enumerate() {
            assert_eq!(code as usize, place, "{code}");
        }
        // The named variant is the last one of the enum.
        assert_eq!(
            Code::ALL.len(),
            Code::WebhookNotFound as usize + 1,
            "add the code to Code::ALL"
        );
    }
}
