//! Decides whether and when a failed attempt is retried.

pub(crate) mod attempt_report;
pub(crate) mod outcome;
pub(crate) mod retry_after;
pub(crate) mod schedule;
