//! The ports for reads and writes of assessments, attestations and badges.

use std::collections::BTreeMap;

use super::error::StoreError;
use crate::{
    ApiKeyId, Assessment, Attestation, Badge, BadgeId, CheckName, Revocation, StatusPosition,
    Timestamp,
};

/// Reads and writes assessments, attestations and badges. Assessments and attestations are append-only: triggers in the
/// database reject every `UPDATE` and `DELETE`.
pub trait BadgeRepo {
    /// Inserts an assessment.
    fn insert_assessment(&mut self, assessment: &Assessment) -> Result<(), StoreError>;

    /// Reads the newest assessment of a key. `None` if the key was never assessed.
    fn newest_assessment(&mut self, key: &ApiKeyId) -> Result<Option<Assessment>, StoreError>;

    /// Inserts an attestation.
    fn insert_attestation(&mut self, attestation: &Attestation) -> Result<(), StoreError>;

    /// Reads the key's newest attestation for each of the checks. The map has no entry for a check without attestation.
    fn newest_attestations(
        &mut self,
        key: &ApiKeyId,
        checks: &[CheckName],
    ) -> Result<BTreeMap<CheckName, Attestation>, StoreError>;

    /// Counts the badges of a key that are neither revoked nor expired at `now`.
    fn count_live_badges(&mut self, key: &ApiKeyId, now: Timestamp) -> Result<u64, StoreError>;

    /// Finds a free position in a status list for a new badge. Tries the random indices `draws` in the newest list. If
    /// badges occupy all these positions, starts the next list. Concurrent calls wait until this transaction ends.
    fn lock_free_position(&mut self, draws: &[u32]) -> Result<StatusPosition, StoreError>;

    /// Inserts a badge. Its position must come from `lock_free_position` in the same transaction.
    fn insert_badge(&mut self, badge: &Badge) -> Result<(), StoreError>;

    /// Revokes a badge. Returns `false` if the badge does not exist or is already revoked.
    fn revoke_badge(&mut self, id: &BadgeId, revocation: &Revocation) -> Result<bool, StoreError>;
}

/// Reads badges for their public pages and for the public status lists.
pub trait BadgeLookup {
    /// Finds a badge and its assessment. `None` if there is no badge with this id.
    fn find_badge(&mut self, id: &BadgeId) -> Result<Option<(Badge, Assessment)>, StoreError>;

    /// Reads the indices of the revoked badges in a status list. `None` if the list has no badges.
    fn revoked_in(&mut self, list: u64) -> Result<Option<Vec<u64>>, StoreError>;
}
