//! The error codes of refused requests, with their names in JSON and their JSON schema.

use std::{borrow::Cow, fmt};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

use crate::named_enum::named_enum;

named_enum! {
    /// The error code in the body of an error response: the `code` member of a problem document (RFC 9457).
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize, Serialize)]
    #[serde(rename_all = "SCREAMING_SNAKE_CASE")]
    #[expect(missing_docs, reason = "the contract's table of errors says what each code means")]
    pub enum Code {
        ActionRefused = "ACTION_REFUSED",
        ActivationRefused = "ACTIVATION_REFUSED",
        BadgeDeniedDrift = "BADGE_DENIED_DRIFT",
        BadgeDeniedThresholds = "BADGE_DENIED_THRESHOLDS",
        ComplianceCircuitFailed = "COMPLIANCE_CIRCUIT_FAILED",
        EnvelopeNotFound = "ENVELOPE_NOT_FOUND",
        GovernanceBlocked = "GOVERNANCE_BLOCKED",
        HandleTaken = "HANDLE_TAKEN",
        HeadersTooLarge = "HEADERS_TOO_LARGE",
        IdempotencyKeyReused = "IDEMPOTENCY_KEY_REUSED",
        InsufficientRole = "INSUFFICIENT_ROLE",
        InsufficientScope = "INSUFFICIENT_SCOPE",
        InternalError = "INTERNAL_ERROR",
        InvalidField = "INVALID_FIELD",
        InvalidHttp = "INVALID_HTTP",
        InvalidJson = "INVALID_JSON",
        KeyInactive = "KEY_INACTIVE",
        KeyNotFound = "KEY_NOT_FOUND",
        MethodNotAllowed = "METHOD_NOT_ALLOWED",
        MissingField = "MISSING_FIELD",
        MonthlyLimitExceeded = "MONTHLY_LIMIT_EXCEEDED",
        NotFound = "NOT_FOUND",
        PayloadTooLarge = "PAYLOAD_TOO_LARGE",
        QuotaExceeded = "QUOTA_EXCEEDED",
        RateLimitExceeded = "RATE_LIMIT_EXCEEDED",
        RawDidRejected = "RAW_DID_REJECTED",
        RecipientRefuses = "RECIPIENT_REFUSES",
        RequestTimeout = "REQUEST_TIMEOUT",
        ServiceUnavailable = "SERVICE_UNAVAILABLE",
        SubjectNotFound = "SUBJECT_NOT_FOUND",
        TokenNotFound = "TOKEN_NOT_FOUND",
        Unauthorized = "UNAUTHORIZED",
        UnsupportedMediaType = "UNSUPPORTED_MEDIA_TYPE",
        UpgradeRequired = "UPGRADE_REQUIRED",
        WebhookNotFound = "WEBHOOK_NOT_FOUND",
    }
}

impl Code {
    /// Returns the codes of the public API: all except those that only the API for operators returns.
    pub fn public() -> impl Iterator<Item = Self> {
        let of_operators = [Self::ActionRefused, Self::InsufficientRole, Self::SubjectNotFound];
        Self::ALL.into_iter().filter(move |code| !of_operators.contains(code))
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
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
