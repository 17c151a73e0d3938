//! Records assessments (measured scores) and attestations (results of checks) of API keys, and revokes badges. Badges
//! are based on assessments and attestations.

use schemars::JsonSchema;
use sealpost_domain::{
    ApiKeyId, Assessment, AssessmentId, AssessmentMetrics, Attestation, AttestationId, BadgeId,
    CheckName, Revocation, Timestamp,
};
use sealpost_wallet::random;
use serde::Serialize;
use serde_json::json;

use crate::acts::{
    audited::{ActionRecord, Concerned, Operator, OperatorError},
    keys::NO_KEY,
};

/// The author and the reason of an assessment (measured scores) or attestation (result of a check).
#[derive(Debug, Clone, Default)]
pub struct AssessmentSource {
    /// Name of the assessor or attester; `None` means the operator.
    pub by: Option<String>,
    /// The reason for the result, or the method.
    pub reason: String,
}

/// A new attestation: the result of a check of an API key.
#[derive(Debug, Clone)]
pub struct Attest {
    /// The name of the check.
    pub check: CheckName,
    /// Time at which the attestation expires; `None` means never.
    pub valid_until: Option<Timestamp>,
    /// True if the key failed the check.
    pub failed: bool,
}

/// An assessment (measured scores of a key), as operators see it.
#[derive(Debug, Clone, JsonSchema, Serialize)]
pub struct AssessmentView {
    /// Id of the assessment.
    pub assessment_id: AssessmentId,
    /// The assessed key.
    pub api_key_id: ApiKeyId,
    /// The scores.
    #[serde(flatten)]
    pub metrics: AssessmentMetrics,
    /// Name of the assessor.
    pub assessor: String,
    /// The reason that the assessor gave.
    pub reason: String,
    /// Time of the assessment.
    pub at: Timestamp,
}

/// An attestation (recorded result of a check of a key), as operators see it.
#[derive(Debug, Clone, JsonSchema, Serialize)]
pub struct AttestationView {
    /// Id of the attestation.
    pub attestation_id: AttestationId,
    /// The checked key.
    pub api_key_id: ApiKeyId,
    /// Name of the check.
    pub check: CheckName,
    /// True if the key failed the check.
    pub failed: bool,
    /// End of the validity, exclusive; null if the attestation does not expire.
    pub valid_until: Option<Timestamp>,
    /// Name of the attester.
    pub attester: String,
    /// The reason that the attester gave.
    pub reason: String,
    /// Time of the attestation.
    pub at: Timestamp,
}

/// A revoked badge.
#[derive(Debug, Clone, JsonSchema, Serialize)]
pub struct BadgeRevoked {
    /// Id of the badge.
    pub badge_id: BadgeId,
    /// Time of the revocation.
    pub revoked_at: Timestamp,
    /// The reason that the operator gave.
    pub reason: String,
}

impl Operator {
    /// Records an assessment (measured scores) of a key. Badges issued later are based on the newest assessment.
    pub fn assess(
        &self,
        key: &ApiKeyId,
        metrics: AssessmentMetrics,
        source: &AssessmentSource,
    ) -> Result<AssessmentView, OperatorError> {
        let at = self.clock.now();
        let assessment = Assessment {
            id: AssessmentId::new(at, random()?),
            api_key_id: *key,
            metrics,
            assessor: self.assessor(source),
            reason: source.reason.clone(),
            at,
        };
        self.perform(|tx| {
            tx.find_key(key)?.ok_or(NO_KEY)?;
            let at = tx.insert_assessment(&assessment)?;
            let shown = AssessmentView::from(Assessment { at, ..assessment.clone() });
            Ok((shown.clone(), ActionRecord::on_key("assessment.record", key, json!(shown))))
        })
    }

    /// Records that a key passed or failed a check. For each check of a key, the service uses only the newest record.
    pub fn attest(
        &self,
        key: &ApiKeyId,
        attest: &Attest,
        source: &AssessmentSource,
    ) -> Result<AttestationView, OperatorError> {
        let at = self.clock.now();
        let attestation = Attestation {
            id: AttestationId::new(at, random()?),
            api_key_id: *key,
            check: attest.check.clone(),
            failed: attest.failed,
            valid_until: attest.valid_until,
            attester: self.assessor(source),
            reason: source.reason.clone(),
            at,
        };
        self.perform(|tx| {
            tx.find_key(key)?.ok_or(NO_KEY)?;
            let at = tx.insert_attestation(&attestation)?;
            let shown = AttestationView::from(Attestation { at, ..attestation.clone() });
            Ok((shown.clone(), ActionRecord::on_key("attestation.record", key, json!(shown))))
        })
    }

    /// Revokes a badge permanently. The public status list of the badge then shows the revocation. Fails if the badge
    /// does not exist or is already revoked.
    pub fn revoke_badge(&self, id: &BadgeId, reason: &str) -> Result<BadgeRevoked, OperatorError> {
        let at = self.clock.now();
        let revocation = Revocation { at, by: self.actor.clone(), reason: reason.to_owned() };
        self.perform(|tx| {
            let found = tx.find_badge(id)?;
            let (badge, _) = found.ok_or(OperatorError::NotFound("such badge"))?;
            if !tx.revoke_badge(id, &revocation)? {
                return Err(OperatorError::Pointless("this badge is revoked already").into());
            }
            let reason = reason.to_owned();
            let detail = json!({"reason": reason});
            let record =
                ActionRecord::new("badge.revoke", id, Concerned::Key(badge.api_key_id), detail);
            Ok((BadgeRevoked { badge_id: *id, revoked_at: at, reason }, record))
        })
    }

    fn assessor(&self, source: &AssessmentSource) -> String {
        source.by.clone().unwrap_or_else(|| self.actor.clone())
    }
}

impl From<Assessment> for AssessmentView {
    fn from(assessment: Assessment) -> Self {
        Self {
            assessment_id: assessment.id,
            api_key_id: assessment.api_key_id,
            metrics: assessment.metrics,
            assessor: assessment.assessor,
            reason: assessment.reason,
            at: assessment.at,
        }
    }
}

impl From<Attestation> for AttestationView {
    fn from(attestation: Attestation) -> Self {
        Self {
            attestation_id: attestation.id,
            api_key_id: attestation.api_key_id,
            check: attestation.check,
            failed: attestation.failed,
            valid_until: attestation.valid_until,
            attester: attestation.attester,
            reason: attestation.reason,
            at: attestation.at,
        }
    }
}
