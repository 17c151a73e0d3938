//! Activity, details of sessions, and closing of accounts.

mod activity;
mod closing;
mod session_details;
