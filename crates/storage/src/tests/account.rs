//! Tests of the activity log, of details of sessions, and of the closing of accounts.

mod activity;
mod closing;
mod session_details;
mod used_forms;
