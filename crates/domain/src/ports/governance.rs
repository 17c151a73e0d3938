//! The ports for governance decisions (blocks of keys) and for the audit trail of operators.

use super::error::StoreError;
use crate::{AuditEntry, GovernanceDecision, GovernanceSubject, PartnerId};

/// Reads and writes governance decisions, with which operators block keys.
pub trait GovernanceRepo {
    /// Reads the open decisions on this key, account or partner. A decision is open until it is lifted. For a key,
    /// leaves out the decisions on its account and on the partner of the account.
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

/// Reads and appends entries of the audit trail, the log of operators' actions. Triggers in the database reject every
/// `UPDATE` and `DELETE` of an entry.
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
