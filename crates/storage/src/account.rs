//! Stores the activity log of accounts and the details of sessions. Also closes accounts.

pub(crate) mod activity;
mod closing;
pub(crate) mod erased_handles;
pub(crate) mod session_details;
