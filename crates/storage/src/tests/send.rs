//! Tests of the send path.

mod batches;
mod dead_versions;
mod facts;
mod facts_version;
mod idempotency;
mod locks;
mod policies;
mod stored_bytes;
mod stored_hash;
mod thresholds;
