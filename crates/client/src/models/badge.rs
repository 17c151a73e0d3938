//! Bodies of the operations of badges and compliance checks.

use sealpost_domain::{BadgeId, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The options of a new badge.
#[derive(Debug, Clone, Default, Serialize)]
pub struct BadgeRequest {
    /// A jurisdiction whose compliance checks must also pass.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub jurisdiction: Option<String>,
    /// If true, the subject of the badge is the DID of the key instead of a URN of the key.
    pub disclose_did: bool,
}

/// An issued badge.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct IssuedBadge {
    /// Id of the badge.
    pub badge_id: BadgeId,
    /// Start of the validity.
    pub issued_at: Timestamp,
    /// End of the validity.
    pub expires_at: Timestamp,
    /// The badge as a signed JWT.
    pub credential: String,
}

/// The result of a dry run.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct BadgeDryRun {
    /// Whether a badge would be issued.
    pub granted: bool,
    /// All reasons for a refusal.
    pub refusals: Vec<RefusalReason>,
}

/// One reason for a refusal.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct RefusalReason {
    /// Name of the error code.
    pub code: String,
    /// The reason, and the fix.
    pub detail: String,
    /// All other members, such as `unmet` and `checks`.
    #[serde(flatten)]
    pub members: Map<String, Value>,
}

/// The result of a verification. The details are `None` if the credential is not a badge of this service.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct VerifiedBadge {
    /// Whether the badge is valid.
    pub valid: bool,
    /// The result, such as `valid`, `expired` or `revoked`.
    pub status: String,
    /// Id of the badge.
    pub badge_id: Option<BadgeId>,
    /// The subject.
    pub subject: Option<String>,
    /// Start of the validity.
    pub issued_at: Option<Timestamp>,
    /// End of the validity.
    pub expires_at: Option<Timestamp>,
    /// Time of the revocation.
    pub revoked_at: Option<Timestamp>,
}

/// The results of all checks of a jurisdiction.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ComplianceReport {
    /// The jurisdiction.
    pub jurisdiction: String,
    /// Whether all required checks passed.
    pub passed: bool,
    /// The results, in the order of the circuit.
    pub checks: Vec<ComplianceCheck>,
    /// In a dry run, all reasons for a refusal.
    #[serde(default)]
    pub refusals: Vec<RefusalReason>,
}

/// The result of one check.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ComplianceCheck {
    /// Name of the check.
    pub name: String,
    /// The result, such as `passed` or `missing`.
    pub status: String,
    /// End of the validity of the attestation.
    pub valid_until: Option<Timestamp>,
    /// Whether the circuit passes only if this check passes.
    pub required: bool,
    /// Names of the attestations that satisfy the check.
    pub any_of: Vec<String>,
}
