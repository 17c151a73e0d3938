//! Use cases of accounts: activation, login, logout, secrets, API tokens, and the status of a key.

pub(crate) mod activate;
pub(crate) mod api_tokens;
pub(crate) mod key_status;
pub(crate) mod recovery;
pub(crate) mod session;
