//! Accounts: their activity, their sessions on the dashboard, and closing.

mod activity;
mod closing;
