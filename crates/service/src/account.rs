//! Use cases of accounts: activation, login, logout, rotation of the login secret, and the status of a key.

pub(crate) mod activate;
pub(crate) mod key_status;
pub(crate) mod resolve;
pub(crate) mod session;
