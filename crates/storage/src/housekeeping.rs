//! Housekeeping: deletes expired rows, updates daily counts, and lets one node at a time run each task.

pub(crate) mod daily_counts;
pub(crate) mod deleted_webhooks;
pub(crate) mod expired_envelopes;
mod expired_rows;
pub(crate) mod nodes;
pub(crate) mod partitions;
mod purge_attempts;
pub(crate) mod purge_cursor;
