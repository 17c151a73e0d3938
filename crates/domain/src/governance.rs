//! Governance decisions and the audit trail of operators.

mod audit;
mod decision;

pub use audit::{AdminAction, AuditEntry, AuditHash};
pub use decision::{
    GovernanceDecision, GovernanceKind, GovernanceReason, GovernanceStanding, GovernanceStatus,
    GovernanceSubject, PartnerFault, PartnerId,
};
