//! The ports for governance decisions (blocks of keys) and for the audit trail of operators.

use super::error::StoreError;
use crate::{AuditEntry, GovernanceDecision, GovernanceSubject, PartnerId};

/// Reads and writes governance decisions, with which operators block keys.
pub trait GovernanceRepo {
    /// Reads the decisions on this subject that are not lifted. Decisions on the account of a key are not included.
    fn open_decisions(
        &mut self,
        subject: &GovernanceSubject,
    ) -> Result<Vec<GovernanceDecision>, StoreError>;

    /// Inserts a new decision.
    fn insert_decision(&mut self, decision: &GovernanceDecision) -> Result<(), StoreError>;

    /// Changes the status of a stored decision, and its reason, time and operator.
    fn update_decision(&mut self, decision: &GovernanceDecision) -> Result<(), StoreError>;

    /// Counts the accounts that are assigned to a partner.
    fn count_accounts_of(&mut self, partner: &PartnerId) -> Result<u64, StoreError>;
}

/// Reads and appends entries of the audit trail, the log of changes by operators. The database rejects changes and
/// deletes.
pub trait AuditRepo {
    /// Reads the newest entry of the audit trail. `None` if the trail is empty. Concurrent calls wait until this
    /// transaction ends.
    fn lock_audit_head(&mut self) -> Result<Option<AuditEntry>, StoreError>;

    /// Appends an entry. Its number must be one more than that of the newest entry.
    fn append_audit(&mut self, entry: &AuditEntry) -> Result<(), StoreError>;

    /// Reads up to `limit` entries with numbers above `after`, in ascending order.
    fn audit_entries(&mut self, after: u64, limit: u32) -> Result<Vec<AuditEntry>, StoreError>;

    /// Reads the newest entries, at most `limit`, in ascending order of their numbers.
    fn newest_audit_entries(&mut self, limit: u32) -> Result<Vec<AuditEntry>, StoreError>;
}
