//! Governance: decisions of operators to block keys, and the audit trail of all changes by operators.

mod audit;
mod decision;

pub use audit::{AdminAction, AuditEntry, AuditHash};
pub use decision::{
    GovernanceDecision, GovernanceKind, GovernanceReason, GovernanceStanding, GovernanceStatus,
    GovernanceSubject, PartnerFault, PartnerId,
};
