//! Badges, compliance checks and the keys of the service.

use sealpost_domain::{BadgeId, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::{
    client::Client,
    error::ClientError,
    request::{ApiRequest, STATUS_LISTS},
};

impl Client {
    /// Issues a badge for the API key.
    pub async fn issue_badge(&self, badge: &BadgeRequest) -> Result<IssuedBadge, ClientError> {
        self.transport.post(ISSUE, badge).await
    }

    /// Returns all reasons for which the service would not issue a badge. Issues no badge.
    pub async fn try_badge(&self, badge: &BadgeRequest) -> Result<BadgeDryRun, ClientError> {
        let body = json!({
            "jurisdiction": badge.jurisdiction, "disclose_did": badge.disclose_did, "dry_run": true,
        });
        self.transport.post(ISSUE, &body).await
    }

    /// Verifies a badge, which is a signed JWT. An invalid badge is not an error: see [`VerifiedBadge::valid`].
    pub async fn verify_badge(&self, credential: &str) -> Result<VerifiedBadge, ClientError> {
        self.transport.post("/v1/badges/verify", &json!({"credential": credential})).await
    }

    /// Returns a signed list of revoked badges (W3C Bitstring Status List), as a JWT.
    pub async fn status_list(&self, list_id: u64) -> Result<String, ClientError> {
        let request = ApiRequest::get(format!("{STATUS_LISTS}{list_id}"));
        Ok(String::from_utf8_lossy(&self.transport.bytes(&request).await?).into_owned())
    }

    /// Returns the DID document of the service. Its public keys verify badges and `v1a` (Ed25519) webhook signatures.
    pub async fn did_document(&self) -> Result<Value, ClientError> {
        self.transport.call(&ApiRequest::get("/.well-known/did.json")).await
    }

    /// Runs the compliance checks of a jurisdiction. If a required check does not pass, returns an error with the code
    /// `COMPLIANCE_CIRCUIT_FAILED`.
    pub async fn validate_compliance(
        &self,
        jurisdiction: &str,
    ) -> Result<ComplianceReport, ClientError> {
        self.transport.post(VALIDATE, &json!({"jurisdiction": jurisdiction})).await
    }

    /// Runs the compliance checks of a jurisdiction. If checks do not pass, returns no error, but a report that names
    /// them.
    pub async fn try_compliance(
        &self,
        jurisdiction: &str,
    ) -> Result<ComplianceReport, ClientError> {
        self.transport.post(VALIDATE, &json!({"jurisdiction": jurisdiction, "dry_run": true})).await
    }
}

/// The options for the issue of a badge.
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
    /// Time from which the badge is valid.
    pub issued_at: Timestamp,
    /// Time at which the badge expires.
    pub expires_at: Timestamp,
    /// The badge as a signed JWT.
    pub credential: String,
}

/// The result of a dry run: whether a badge would be issued, without issuing one.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct BadgeDryRun {
    /// True if a badge would be issued.
    pub granted: bool,
    /// All reasons for which the service would refuse to issue a badge.
    pub refusals: Vec<RefusalReason>,
}

/// One reason why the service would refuse to issue a badge.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct RefusalReason {
    /// Name of the error code.
    pub code: String,
    /// The reason, and the fix.
    pub detail: String,
    /// All other members of the JSON object, such as `unmet`: the badge thresholds that the key does not meet.
    #[serde(flatten)]
    pub members: Map<String, Value>,
}

/// The result of a verification. All fields except `valid` and `status` are `None` if the credential is not a badge of
/// this service.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct VerifiedBadge {
    /// True if the badge is valid.
    pub valid: bool,
    /// The result of the verification, such as `valid`, `expired` or `revoked`.
    pub status: String,
    /// Id of the badge.
    pub badge_id: Option<BadgeId>,
    /// The subject of the badge: the DID of the key, or a URN with the id of the key.
    pub subject: Option<String>,
    /// Time from which the badge is valid.
    pub issued_at: Option<Timestamp>,
    /// Time at which the badge expires.
    pub expires_at: Option<Timestamp>,
    /// Time at which the badge was revoked. `None` if the badge is not revoked.
    pub revoked_at: Option<Timestamp>,
}

/// The results of all checks of a jurisdiction.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ComplianceReport {
    /// Name of the jurisdiction whose checks were run.
    pub jurisdiction: String,
    /// True if all required checks passed.
    pub passed: bool,
    /// The results of the checks, in the order of the compliance circuit (the list of checks of a jurisdiction).
    pub checks: Vec<ComplianceCheck>,
    /// In a dry run, all reasons for which a real request would be refused. Empty otherwise.
    #[serde(default)]
    pub refusals: Vec<RefusalReason>,
}

/// The result of one compliance check.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ComplianceCheck {
    /// Name of the check.
    pub name: String,
    /// The result of the check, such as `passed` or `missing`.
    pub status: String,
    /// Time at which the attestation (the recorded check) expires. `None` if no valid attestation was found.
    pub valid_until: Option<Timestamp>,
    /// True if the jurisdiction requires this check.
    pub required: bool,
    /// Names of the attestations (recorded checks) that satisfy the check. One valid attestation is enough.
    pub any_of: Vec<String>,
}

const ISSUE: &str = "/v1/badges/issue";
const VALIDATE: &str = "/v1/compliance/validate";
