//! The ports for assessments, attestations and badges.

use std::collections::BTreeMap;

use super::error::StoreError;
use crate::{
    ApiKeyId, Assessment, Attestation, Badge, BadgeId, CheckName, Revocation, StatusPosition,
    Timestamp,
};

/// Reads and writes assessments, attestations and badges. Assessments and attestations are append-only; the database
/// rejects updates and deletes.
pub trait BadgeRepo {
    /// Inserts an assessment.
    fn insert_assessment(&mut self, assessment: &Assessment) -> Result<(), StoreError>;

    /// Reads the key's newest assessment.
    fn newest_assessment(&mut self, key: &ApiKeyId) -> Result<Option<Assessment>, StoreError>;

    /// Inserts an attestation.
    fn insert_attestation(&mut self, attestation: &Attestation) -> Result<(), StoreError>;

    /// Reads the key's newest attestation for each of the checks. Checks without an attestation are left out.
    fn newest_attestations(
        &mut self,
        key: &ApiKeyId,
        checks: &[CheckName],
    ) -> Result<BTreeMap<CheckName, Attestation>, StoreError>;

    /// Counts the badges of the key that are neither revoked nor expired.
    fn count_live_badges(&mut self, key: &ApiKeyId, now: Timestamp) -> Result<u64, StoreError>;

    /// Finds a free position for one badge, and blocks concurrent searches until the transaction
    /// ends. Tries the random `draws` as indices of the newest list, then of the next list.
    fn lock_free_position(&mut self, draws: &[u32]) -> Result<StatusPosition, StoreError>;

    /// Inserts a badge at the reserved position.
    fn insert_badge(&mut self, badge: &Badge) -> Result<(), StoreError>;

    /// Revokes a badge. Returns `false` if the badge does not exist or is already revoked.
    fn revoke_badge(&mut self, id: &BadgeId, revocation: &Revocation) -> Result<bool, StoreError>;
}

/// Looks up badges for their public pages and status lists.
pub trait BadgeLookup {
    /// Finds a badge with its assessment.
    fn find_badge(&mut self, id: &BadgeId) -> Result<Option<(Badge, Assessment)>, StoreError>;

    /// Reads the indices of the revoked badges of a status list; `None` if the list has no badges.
    fn revoked_in(&mut self, list: u64) -> Result<Option<Vec<u64>>, StoreError>;
}
