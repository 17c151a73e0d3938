//! Verify: whether a credential is a badge of this service, and whether it holds.

use schemars::JsonSchema;
use sealpost_domain::{
    BadgeId, BadgeStatus, Timestamp,
    ports::{Durability, StoreError, Tx},
};
use serde::{Deserialize, Serialize};

use crate::{Body, Credentials, Limited, Sealpost, admission::Act};

/// What a credential is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, JsonSchema, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum BadgeVerdict {
    /// Its time is over.
    Expired,
    /// It is no badge that this service signed, or was altered.
    Invalid,
    /// It was taken back.
    Revoked,
    /// It holds.
    Valid,
}

/// What is known of a credential. Of one that is invalid nothing is.
#[derive(Debug, JsonSchema, Serialize)]
#[expect(missing_docs, reason = "the fields of a badge")]
pub struct BadgeVerified {
    /// Whether it holds.
    pub valid: bool,
    /// If not, why.
    pub status: BadgeVerdict,
    pub badge_id: Option<BadgeId>,
    pub subject: Option<String>,
    pub issued_at: Option<Timestamp>,
    pub expires_at: Option<Timestamp>,
    pub revoked_at: Option<Timestamp>,
}

/// What is looked for in a credential.
#[derive(Deserialize)]
struct Claims {
    id: String,
    sub: String,
}

impl Sealpost {
    /// Judges a credential. Its key may be an old one; what counts besides is what is on record.
    pub fn verify_badge(
        &self,
        credentials: &Credentials,
        body: &Body<String>,
    ) -> Limited<BadgeVerified> {
        let caller = match self.identify(credentials) {
            Ok(caller) => caller,
            Err(error) => return Limited::unasked(error),
        };
        self.admitted(&caller, Act::Manage, Durability::Relaxed, |tx, _| match body {
            Err(fault) => Ok(Err(fault.clone())),
            Ok(credential) => self.judge_credential(tx, credential).map(Ok),
        })
    }

    fn judge_credential(
        &self,
        tx: &mut dyn Tx,
        credential: &str,
    ) -> Result<BadgeVerified, StoreError> {
        let claims = self.core.issuer.verify_credential(credential);
        let claims = claims.and_then(|bytes| serde_json::from_slice::<Claims>(&bytes).ok());
        let id = claims.as_ref().and_then(|claims| claims.id.rsplit_once('/')?.1.parse().ok());
        let found = match &id {
            Some(id) => tx.find_badge(id)?,
            None => None,
        };
        let (Some((badge, _)), Some(claims)) = (found, claims) else { return Ok(INVALID) };
        // Whoever got hold of a key that has signed may put its own name beside somebody else's badge.
        if claims.sub != badge.subject {
            return Ok(INVALID);
        }
        let verdict = match badge.status(self.core.clock.now()) {
            BadgeStatus::Expired => BadgeVerdict::Expired,
            BadgeStatus::Revoked => BadgeVerdict::Revoked,
            BadgeStatus::Valid => BadgeVerdict::Valid,
        };
        Ok(BadgeVerified {
            valid: verdict == BadgeVerdict::Valid,
            status: verdict,
            badge_id: Some(badge.id),
            subject: Some(badge.subject),
            issued_at: Some(badge.issued_at),
            expires_at: Some(badge.expires_at),
            revoked_at: badge.revocation.map(|revocation| revocation.at),
        })
    }
}

const INVALID: BadgeVerified = BadgeVerified {
    valid: false,
    status: BadgeVerdict::Invalid,
    badge_id: None,
    subject: None,
    issued_at: None,
    expires_at: None,
    revoked_at: None,
};
