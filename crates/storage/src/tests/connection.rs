//! Tests of connections and transactions, with cases for one database only.

mod checkpoints;
mod commit_deadline;
mod journaled_acts;
mod lost_commits;
mod plans;
mod postgres_only;
mod schema_checks;
mod server_info;
mod sqlite_only;
mod transactions;
