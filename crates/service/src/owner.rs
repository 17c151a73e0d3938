//! Queries by the owner of an account, for the dashboard.

pub(crate) mod account_owner;
pub(crate) mod correspondents;
pub(crate) mod event_log;
pub(crate) mod event_report;
pub(crate) mod health;
pub(crate) mod pages;
pub(crate) mod response_times;
pub(crate) mod sent;
pub(crate) mod used_forms;
pub(crate) mod views;
