//! Findings about keys, and badges that are taken back.

use sealpost_domain::{
    ApiKeyId, Assessment, AssessmentId, AssessmentMetrics, Attestation, AttestationId, BadgeId,
    CheckName, Revocation, Timestamp,
};
use sealpost_wallet::random;
use serde::Serialize;
use serde_json::json;

use super::{Deed, Operator, OperatorError};

/// Who found something, and why.
#[derive(Debug, Clone, Default)]
pub struct Finding {
    /// The operator who writes it down, where nobody else is named.
    pub by: Option<String>,
    /// What is behind it.
    pub reason: String,
}

/// What is attested.
#[derive(Debug, Clone)]
pub struct Attest {
    /// What was checked.
    pub check: CheckName,
    /// Until when it counts.
    pub valid_until: Option<Timestamp>,
    /// Whether the check failed.
    pub failed: bool,
}

/// An assessment as operators see it.
#[derive(Debug, Clone, Serialize)]
#[expect(missing_docs, reason = "the fields of an assessment")]
pub struct AssessmentShown {
    pub assessment_id: AssessmentId,
    pub api_key_id: ApiKeyId,
    #[serde(flatten)]
    pub metrics: AssessmentMetrics,
    pub assessor: String,
    pub reason: String,
    pub at: Timestamp,
}

/// An attestation as operators see it.
#[derive(Debug, Clone, Serialize)]
#[expect(missing_docs, reason = "the fields of an attestation")]
pub struct AttestationShown {
    pub attestation_id: AttestationId,
    pub api_key_id: ApiKeyId,
    pub check: CheckName,
    pub failed: bool,
    pub valid_until: Option<Timestamp>,
    pub attester: String,
    pub reason: String,
    pub at: Timestamp,
}

/// A badge that was taken back.
#[derive(Debug, Clone, Serialize)]
#[expect(missing_docs, reason = "the fields of a badge")]
pub struct BadgeRevoked {
    pub badge_id: BadgeId,
    pub revoked_at: Timestamp,
    pub reason: String,
}

impl Operator {
    /// Writes down what was found about a key. Its next badge is judged by it.
    pub fn assess(
        &self,
        key: &ApiKeyId,
        metrics: AssessmentMetrics,
        finding: &Finding,
    ) -> Result<AssessmentShown, OperatorError> {
        let at = self.clock.now();
        let assessment = Assessment {
            id: AssessmentId::new(at, random()?),
            api_key_id: *key,
            metrics,
            assessor: self.finder(finding),
            reason: finding.reason.clone(),
            at,
        };
        self.act(|tx| {
            if tx.find_key(key)?.is_none() {
                return Ok(Err(OperatorError::NotFound("such API key")));
            }
            tx.insert_assessment(&assessment)?;
            let shown = AssessmentShown::from(assessment.clone());
            Ok(Ok((shown.clone(), deed("assessment.record", key, json!(shown)))))
        })
    }

    /// Writes down that a key passed or failed a check.
    pub fn attest(
        &self,
        key: &ApiKeyId,
        attest: &Attest,
        finding: &Finding,
    ) -> Result<AttestationShown, OperatorError> {
        let at = self.clock.now();
        let attestation = Attestation {
            id: AttestationId::new(at, random()?),
            api_key_id: *key,
            check: attest.check.clone(),
            failed: attest.failed,
            valid_until: attest.valid_until,
            attester: self.finder(finding),
            reason: finding.reason.clone(),
            at,
        };
        self.act(|tx| {
            if tx.find_key(key)?.is_none() {
                return Ok(Err(OperatorError::NotFound("such API key")));
            }
            tx.insert_attestation(&attestation)?;
            let shown = AttestationShown::from(attestation.clone());
            Ok(Ok((shown.clone(), deed("attestation.record", key, json!(shown)))))
        })
    }

    /// Takes a badge back. Its status list says so from now on, for whoever looks.
    pub fn revoke_badge(&self, id: &BadgeId, reason: &str) -> Result<BadgeRevoked, OperatorError> {
        let at = self.clock.now();
        let revocation = Revocation { at, by: self.actor.clone(), reason: reason.to_owned() };
        self.act(|tx| {
            if tx.find_badge(id)?.is_none() {
                return Ok(Err(OperatorError::NotFound("such badge")));
            }
            if !tx.revoke_badge(id, &revocation)? {
                return Ok(Err(OperatorError::Pointless("this badge is revoked already")));
            }
            let reason = reason.to_owned();
            let detail = json!({"reason": reason});
            let deed = Deed { action: "badge.revoke", subject: id.to_string(), detail };
            Ok(Ok((BadgeRevoked { badge_id: *id, revoked_at: at, reason }, deed)))
        })
    }

    fn finder(&self, finding: &Finding) -> String {
        finding.by.clone().unwrap_or_else(|| self.actor.clone())
    }
}

fn deed(action: &'static str, key: &ApiKeyId, detail: serde_json::Value) -> Deed {
    Deed { action, subject: key.to_string(), detail }
}

impl From<Assessment> for AssessmentShown {
    fn from(found: Assessment) -> Self {
        Self {
            assessment_id: found.id,
            api_key_id: found.api_key_id,
            metrics: found.metrics,
            assessor: found.assessor,
            reason: found.reason,
            at: found.at,
        }
    }
}

impl From<Attestation> for AttestationShown {
    fn from(found: Attestation) -> Self {
        Self {
            attestation_id: found.id,
            api_key_id: found.api_key_id,
            check: found.check,
            failed: found.failed,
            valid_until: found.valid_until,
            attester: found.attester,
            reason: found.reason,
            at: found.at,
        }
    }
}
