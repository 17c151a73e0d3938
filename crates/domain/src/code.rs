//! Codes as data: the list of all of them, and how they are written and described in JSON.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Serialize, Serializer};

use crate::Code;

impl Code {
    /// Every code, in the order of the enumeration.
    pub const ALL: [Self; 25] = [
        Self::BadgeDeniedDrift,
        Self::BadgeDeniedThresholds,
        Self::ComplianceCircuitFailed,
        Self::EnvelopeNotFound,
        Self::GovernanceBlocked,
        Self::HandleTaken,
        Self::IdempotencyKeyReused,
        Self::InternalError,
        Self::InvalidField,
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
        Self::RequestTimeout,
        Self::ServiceUnavailable,
        Self::Unauthorized,
        Self::UnsupportedMediaType,
        Self::WebhookNotFound,
    ];
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
        json_schema!({ "type": "string", "enum": Self::ALL.map(Self::as_str) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[expect(clippy::as_conversions, reason = "the place of a variant is known by it alone")]
    fn all_codes_are_listed_in_their_order() {
        for (place, code) in Code::ALL.into_iter().enumerate() {
            assert_eq!(code as usize, place, "{code}");
        }
        // The last one of the enumeration.
        assert_eq!(
            Code::ALL.len(),
            Code::WebhookNotFound as usize + 1,
            "add the code to Code::ALL"
        );
    }
}
