//! Badges, compliance checks and the keys of the service.

use serde_json::{Value, json};

use crate::{
    client::Client,
    error::ClientError,
    models::{BadgeDryRun, BadgeRequest, ComplianceReport, IssuedBadge, VerifiedBadge},
    request::{ApiRequest, STATUS_LISTS},
};

impl Client {
    /// Issues a badge for the API key.
    pub async fn issue_badge(&self, badge: &BadgeRequest) -> Result<IssuedBadge, ClientError> {
        self.transport.call(&ApiRequest::post(ISSUE, badge)?).await
    }

    /// Returns all reasons for which the service would not issue a badge. Issues no badge.
    pub async fn try_badge(&self, badge: &BadgeRequest) -> Result<BadgeDryRun, ClientError> {
        let body = json!({
            "jurisdiction": badge.jurisdiction, "disclose_did": badge.disclose_did, "dry_run": true,
        });
        self.transport.call(&ApiRequest::post(ISSUE, &body)?).await
    }

    /// Verifies a badge.
    pub async fn verify_badge(&self, credential: &str) -> Result<VerifiedBadge, ClientError> {
        let body = json!({"credential": credential});
        self.transport.call(&ApiRequest::post("/v1/badges/verify", &body)?).await
    }

    /// Returns a signed list of revoked badges (W3C Bitstring Status List), as a JWT.
    pub async fn status_list(&self, list_id: u64) -> Result<String, ClientError> {
        self.transport.text(&ApiRequest::get(format!("{STATUS_LISTS}{list_id}"))).await
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
        let body = json!({"jurisdiction": jurisdiction});
        self.transport.call(&ApiRequest::post(VALIDATE, &body)?).await
    }

    /// Runs the compliance checks of a jurisdiction. Checks that do not pass are no error.
    pub async fn try_compliance(
        &self,
        jurisdiction: &str,
    ) -> Result<ComplianceReport, ClientError> {
        let body = json!({"jurisdiction": jurisdiction, "dry_run": true});
        self.transport.call(&ApiRequest::post(VALIDATE, &body)?).await
    }
}

const ISSUE: &str = "/v1/badges/issue";
const VALIDATE: &str = "/v1/compliance/validate";
