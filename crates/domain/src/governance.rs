//! Governance: decisions of operators to block keys, and the audit trail of all changes by operators.

mod decision;

pub use decision::{
    AdminAction, AuditEntry, AuditHash, GovernanceDecision, GovernanceKind, GovernanceReason,
    GovernanceStanding, GovernanceStatus, GovernanceSubject, PartnerFault, PartnerId,
};
