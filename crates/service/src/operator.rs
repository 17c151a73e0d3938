//! The commands of operators: accounts, keys, plans, governance, assessments, invites, the audit trail, and
//! re-encryption.

pub(crate) mod account_secrets;
pub(crate) mod action;
pub(crate) mod api_tokens;
pub(crate) mod assessments;
pub(crate) mod audit;
mod audit_chain;
mod closing;
pub(crate) mod encrypted_rows;
pub(crate) mod governance;
pub(crate) mod handles;
pub(crate) mod invites;
pub(crate) mod issuer_keys;
pub(crate) mod kek;
pub(crate) mod key_details;
pub(crate) mod keys;
pub(crate) mod lists;
pub(crate) mod reencrypt;
pub(crate) mod sessions;
pub(crate) mod stats;
mod webhooks;
