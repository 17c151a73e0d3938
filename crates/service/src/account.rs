//! Accounts: activation, login, logout, login secrets, and the status of a key.

pub(crate) mod activate;
pub(crate) mod key_status;
pub(crate) mod session;
