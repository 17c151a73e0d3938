//! Verifies a badge: its signature, that it exists in the database, and that it is neither expired nor revoked.

use schemars::JsonSchema;
use sealpost_domain::{
    BadgeId, BadgeStatus, Timestamp,
    ports::{Durability, StoreError},
};
use sealpost_storage::Transaction;
use serde::{Deserialize, Serialize};

use super::Badges;
use crate::{
    caller::{
        admission::{Limited, Purpose},
        credentials::Caller,
    },
    sealpost::core::Core,
    transparency::proof::{ProofFormat, find_badge},
};

/// The result of a verification.
#[derive(Debug, Clone, Copy, PartialEq, Eq, JsonSchema, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum BadgeVerdict {
    /// The badge has expired.
    Expired,
    /// The credential is not a badge of this service, or was altered.
    Invalid,
    /// The badge was revoked.
    Revoked,
    /// The badge is valid.
    Valid,
}

/// The result of a verification. All details are null if the credential is not a badge of this service.
#[derive(Debug, JsonSchema, Serialize)]
pub struct BadgeVerified {
    /// True if the badge is valid.
    pub valid: bool,
    /// The result of the verification.
    pub status: BadgeVerdict,
    /// Id of the badge.
    pub badge_id: Option<BadgeId>,
    /// The identity that the badge is about: its API key as a URN, or its DID.
    pub subject: Option<String>,
    /// Time from which the badge is valid.
    pub issued_at: Option<Timestamp>,
    /// Time from which the badge is no longer valid.
    pub expires_at: Option<Timestamp>,
    /// Time of the revocation; null if the badge was not revoked.
    pub revoked_at: Option<Timestamp>,
    /// The proof that the status is in the transparency log, if `proof` is true in the request. Absent for up to two
    /// seconds after a change.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub proof: Option<String>,
}

/// The claims that identify the badge and the subject of the badge (the key or its DID).
#[derive(Deserialize)]
struct Claims {
    id: String,
    sub: String,
}

impl Badges {
    /// Verifies a badge. Accepts signatures by all keys of the service, including replaced ones. Reads expiry and
    /// revocation from the stored badge, not from the credential. With a format in `proof`, adds a proof that the
    /// status of the badge is in the transparency log.
    pub async fn verify(
        &self,
        caller: &Caller,
        credential: String,
        proof: Option<ProofFormat>,
    ) -> Limited<BadgeVerified> {
        self.core
            .run_as(self, caller, move |Self { core, log, .. }, caller| {
                core.admitted(caller, Purpose::Manage, Durability::Relaxed, |tx, _| {
                    Ok(verify_credential(core, tx, &credential)?)
                })
                .and_then(|verified| match verified.badge_id.zip(proof) {
                    Some((id, format)) => {
                        let is_revoked = verified.status == BadgeVerdict::Revoked;
                        let proof =
                            log.prove(format, |reader| find_badge(reader, &id, is_revoked))?;
                        Ok(BadgeVerified { proof, ..verified })
                    }
                    None => Ok(verified),
                })
            })
            .await
    }
}

fn verify_credential(
    core: &Core,
    tx: &mut Transaction,
    credential: &str,
) -> Result<BadgeVerified, StoreError> {
    let claims = core.issuer.verify_credential(credential);
    let claims = claims.and_then(|bytes| serde_json::from_slice::<Claims>(&bytes).ok());
    let id = claims.as_ref().and_then(|claims| claims.id.rsplit_once('/')?.1.parse().ok());
    let found = match &id {
        Some(id) => tx.find_badge(id)?,
        None => None,
    };
    let (Some((badge, _)), Some(claims)) = (found, claims) else { return Ok(INVALID) };
    // Compares the subject with the stored badge, because a stolen signing key could sign another subject for an
    // existing badge.
    if claims.sub != badge.subject {
        return Ok(INVALID);
    }
    let verdict = match badge.status(core.clock.now()) {
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
        proof: None,
    })
}

const INVALID: BadgeVerified = BadgeVerified {
    valid: false,
    status: BadgeVerdict::Invalid,
    badge_id: None,
    subject: None,
    issued_at: None,
    expires_at: None,
    revoked_at: None,
    proof: None,
};
