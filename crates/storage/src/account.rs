//! Stores the activity log of accounts, the details of sessions, and the used forms of the dashboard. Also closes
//! accounts.

pub(crate) mod activity;
mod closing;
pub(crate) mod session_details;
pub(crate) mod used_forms;
