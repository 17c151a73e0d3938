//! Reads and writes accounts, keys, webhooks, envelopes, badges, governance decisions, the audit trail, and the
//! transparency log.

pub(crate) mod account_overviews;
pub(crate) mod accounts;
pub(crate) mod api_keys;
pub(crate) mod api_tokens;
pub(crate) mod assessments;
pub(crate) mod audit;
pub(crate) mod badges;
pub(crate) mod envelopes;
pub(crate) mod governance;
pub(crate) mod handles;
pub(crate) mod invites;
pub(crate) mod issuer_keys;
pub(crate) mod log;
pub(crate) mod overview;
pub(crate) mod policies;
pub(crate) mod revocation;
pub(crate) mod stats;
pub(crate) mod webhooks;
