//! The ports for governance decisions and the audit trail.

use super::error::StoreError;
use crate::{AuditEntry, GovernanceDecision, GovernanceSubject, PartnerId};

/// Reads and writes governance decisions of operators.
pub trait GovernanceRepo {
    /// Reads the decisions on exactly this subject that are not lifted.
    fn open_decisions(
        &mut self,
        subject: &GovernanceSubject,
    ) -> Result<Vec<GovernanceDecision>, StoreError>;

    /// Inserts a decision.
    fn insert_decision(&mut self, decision: &GovernanceDecision) -> Result<(), StoreError>;

    /// Updates status, reason, time and operator of a decision.
    fn update_decision(&mut self, decision: &GovernanceDecision) -> Result<(), StoreError>;

    /// Counts the accounts of a partner.
    fn count_accounts_of(&mut self, partner: &PartnerId) -> Result<u64, StoreError>;
}

/// Reads and appends entries of the audit trail. The database rejects updates and deletes.
pub trait AuditRepo {
    /// Reads the newest entry; `None` if the trail is empty. Blocks other appends until the transaction ends.
    fn lock_audit_head(&mut self) -> Result<Option<AuditEntry>, StoreError>;

    /// Appends an entry. Its number must follow the newest entry's number.
    fn append_audit(&mut self, entry: &AuditEntry) -> Result<(), StoreError>;

    /// Reads up to `limit` entries with numbers above `after`, in order.
    fn audit_entries(&mut self, after: u64, limit: u32) -> Result<Vec<AuditEntry>, StoreError>;

    /// Reads the newest entries, at most `limit`, in order.
    fn newest_audit_entries(&mut self, limit: u32) -> Result<Vec<AuditEntry>, StoreError>;
}
