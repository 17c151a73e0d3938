//! Tests of housekeeping: retention, daily counts, deleted webhooks, and the turns of nodes.

mod daily_counts;
mod deleted_webhooks;
mod nodes;
mod partitions;
mod retention;
mod task_turns;
