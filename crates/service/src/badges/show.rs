//! Loads a badge for its public page.

use sealpost_domain::{AssessmentMetrics, BadgeId, BadgeStatus, Timestamp};

use crate::{
    error::Error,
    sealpost::{Sealpost, core::Core},
};

/// The content of the public page of a badge.
#[derive(Debug, Clone)]
#[expect(missing_docs, reason = "the fields of a badge")]
pub struct BadgeView {
    pub badge_id: BadgeId,
    pub status: BadgeStatus,
    pub subject: String,
    pub metrics: AssessmentMetrics,
    /// The jurisdiction whose compliance circuit (set of checks) the key also passed. `None` if the badge was issued
    /// without this condition.
    pub jurisdiction: Option<String>,
    pub assessed_at: Timestamp,
    pub issued_at: Timestamp,
    pub expires_at: Timestamp,
    pub revoked_at: Option<Timestamp>,
    /// DID of the service, which issued the badge.
    pub issuer: String,
    /// URL of the status list that shows if the badge is revoked.
    pub status_list: String,
}

impl Sealpost {
    /// Returns a badge by its id, or `None` if no badge has this id.
    pub async fn show_badge(&self, id: &str) -> Result<Option<BadgeView>, Error> {
        let Ok(id) = id.parse::<BadgeId>() else { return Ok(None) };
        self.block(move |core| core.show_badge(&id)).await
    }
}

impl Core {
    fn show_badge(&self, id: &BadgeId) -> Result<Option<BadgeView>, Error> {
        let Some((badge, assessment)) = self.store.read(|reader| reader.find_badge(id))? else {
            return Ok(None);
        };
        Ok(Some(BadgeView {
            badge_id: badge.id,
            status: badge.status(self.clock.now()),
            metrics: assessment.metrics,
            jurisdiction: badge.compliance.map(|(jurisdiction, _)| jurisdiction.to_string()),
            assessed_at: assessment.at,
            issued_at: badge.issued_at,
            expires_at: badge.expires_at,
            revoked_at: badge.revocation.map(|revocation| revocation.at),
            issuer: self.issuer.did().as_str().to_owned(),
            status_list: self.author().list_url(badge.position.list()),
            subject: badge.subject,
        }))
    }
}
