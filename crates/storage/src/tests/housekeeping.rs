//! Housekeeping.

mod daily_counts;
mod deleted_webhooks;
mod retention;
mod task_turns;
