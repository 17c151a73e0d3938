//! Queries and actions that only operators perform: lists, governance, assessments, invites, the audit trail, recovery,
//! and re-encryption.

pub(crate) mod assessments;
pub(crate) mod audit;
pub(crate) mod encryption;
pub(crate) mod governance;
pub(crate) mod guarded_state;
pub(crate) mod invites;
pub(crate) mod lists;
pub(crate) mod log;
pub(crate) mod recovery;
pub(crate) mod stats;
