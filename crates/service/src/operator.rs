//! The commands of operators: accounts, keys, plans, governance, assessments, invites, the audit trail, and
//! re-encryption.

pub(crate) mod account;
pub(crate) mod action;
pub(crate) mod assessments;
pub(crate) mod audit;
mod audit_chain;
pub(crate) mod encryption;
pub(crate) mod governance;
pub(crate) mod handles;
pub(crate) mod key_details;
pub(crate) mod keys;
pub(crate) mod lists;
pub(crate) mod recovery;
pub(crate) mod stats;
mod webhooks;
