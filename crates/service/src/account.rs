//! Use cases of accounts: activation (creating identities), activity, export, and the status of a key.

pub(crate) mod activate;
pub(crate) mod activity;
pub(crate) mod export;
pub(crate) mod key_status;
