//! Decides when a failed attempt is followed by another.

pub(crate) mod attempt_report;
pub(crate) mod outcome;
pub(crate) mod retry_after;
pub(crate) mod schedule;
