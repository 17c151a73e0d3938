//! The send path: reads the admission facts (rows that decide if sends are accepted), and writes the results of a
//! batch.

pub(crate) mod facts;
pub(crate) mod facts_cache;
pub(crate) mod idempotency;
pub(crate) mod ledger;
pub(crate) mod statements;
pub(crate) mod usage_rows;
