//! Assessments, attestations and badges.

use std::collections::BTreeMap;

use super::StoreError;
use crate::{
    ApiKeyId, Assessment, Attestation, Badge, BadgeId, CheckName, Revocation, StatusPosition,
    Timestamp,
};

/// What was found about keys, and the badges that they were granted. Findings are only ever added, and the database
/// refuses to change or delete one.
pub trait BadgeRepo {
    /// Writes an assessment down.
    fn insert_assessment(&mut self, assessment: &Assessment) -> Result<(), StoreError>;

    /// The key's newest assessment.
    fn newest_assessment(&mut self, key: &ApiKeyId) -> Result<Option<Assessment>, StoreError>;

    /// Writes an attestation down.
    fn insert_attestation(&mut self, attestation: &Attestation) -> Result<(), StoreError>;

    /// The key's newest attestation of each of these checks that has any.
    fn newest_attestations(
        &mut self,
        key: &ApiKeyId,
        checks: &[CheckName],
    ) -> Result<BTreeMap<CheckName, Attestation>, StoreError>;

    /// How many badges of the key are neither revoked nor expired.
    fn count_live_badges(&mut self, key: &ApiKeyId, now: Timestamp) -> Result<u64, StoreError>;

    /// The place of the next badge; until the transaction ends nobody else gets one.
    fn lock_next_position(&mut self) -> Result<StatusPosition, StoreError>;

    /// Writes a badge down, at the place that was locked.
    fn insert_badge(&mut self, badge: &Badge) -> Result<(), StoreError>;

    /// Takes a badge back; `false` where there is none that was not taken back before.
    fn revoke_badge(&mut self, id: &BadgeId, revocation: &Revocation) -> Result<bool, StoreError>;
}

/// What everybody may know of badges.
pub trait BadgeLookup {
    /// A badge and what it was issued on.
    fn find_badge(&mut self, id: &BadgeId) -> Result<Option<(Badge, Assessment)>, StoreError>;

    /// The bits of a status list that are set: of badges that were taken back. `None` where no badge is in the list.
    fn revoked_in(&mut self, list: u64) -> Result<Option<Vec<u64>>, StoreError>;
}
