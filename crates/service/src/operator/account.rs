//! Commands of operators for one account: secrets, sessions, API tokens, invites, and closing.

pub(crate) mod api_tokens;
mod closing;
pub(crate) mod invites;
pub(crate) mod secrets;
pub(crate) mod sessions;
