//! Activity of accounts, details of their sessions, and closing.

pub(crate) mod activity;
mod closing;
pub(crate) mod erased_handles;
pub(crate) mod session_details;
