//! Use cases of accounts: activation (creating identities), login, logout, secrets, API tokens, activity, export,
//! closing, and the status of a key.

pub(crate) mod activate;
pub(crate) mod activity;
pub(crate) mod activity_cursor;
pub(crate) mod api_tokens;
pub(crate) mod close;
pub(crate) mod export;
pub(crate) mod key_status;
pub(crate) mod recovery;
pub(crate) mod resolve;
pub(crate) mod session;
