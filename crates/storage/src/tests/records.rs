//! Tests of the records outside the send path.

mod accounts;
mod api_keys;
pub(in crate::tests) mod api_tokens;
mod audit;
pub(in crate::tests) mod badges;
mod channels;
mod governance;
mod invites;
mod issuer_keys;
mod log;
mod operator_lists;
mod overview;
mod retiring_secrets;
mod revocation;
mod webhooks;
