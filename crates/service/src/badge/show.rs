//! What everybody who has a badge's address may see of it.

use sealpost_domain::{AssessmentMetrics, BadgeId, BadgeStatus, Timestamp};

use crate::{Error, Sealpost};

/// A badge as its page shows it.
#[derive(Debug, Clone)]
#[expect(missing_docs, reason = "the fields of a badge")]
pub struct BadgeShown {
    pub badge_id: BadgeId,
    pub status: BadgeStatus,
    pub subject: String,
    pub metrics: AssessmentMetrics,
    /// The jurisdiction whose circuit held as well.
    pub jurisdiction: Option<String>,
    pub assessed_at: Timestamp,
    pub issued_at: Timestamp,
    pub expires_at: Timestamp,
    pub revoked_at: Option<Timestamp>,
    /// Who issued it.
    pub issuer: String,
    /// Where its status can be verified.
    pub status_list: String,
}

impl Sealpost {
    /// The badge of this id; `None` where there is none.
    pub fn show_badge(&self, id: &str) -> Result<Option<BadgeShown>, Error> {
        let Ok(id) = id.parse::<BadgeId>() else { return Ok(None) };
        let Some((badge, assessment)) = self.core.store.lookup()?.find_badge(&id)? else {
            return Ok(None);
        };
        Ok(Some(BadgeShown {
            badge_id: badge.id,
            status: badge.status(self.core.clock.now()),
            metrics: assessment.metrics,
            jurisdiction: badge.compliance.map(|(jurisdiction, _)| jurisdiction.to_string()),
            assessed_at: assessment.at,
            issued_at: badge.issued_at,
            expires_at: badge.expires_at,
            revoked_at: badge.revocation.map(|revocation| revocation.at),
            issuer: self.core.issuer.did().as_str().to_owned(),
            status_list: self.core.author().list_url(badge.position.list()),
            subject: badge.subject,
        }))
    }
}
