//! The send path: reads the admission facts, which are the rows that admission depends on, and writes the results of a
//! batch.

pub(crate) mod facts;
pub(crate) mod facts_cache;
pub(crate) mod idempotency;
pub(crate) mod ledger;
pub(crate) mod statements;
pub(crate) mod usage_rows;
