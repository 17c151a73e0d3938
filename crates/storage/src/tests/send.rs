//! Tests of the send path.

mod batches;
mod computed_hash;
mod dead_versions;
mod facts;
mod facts_version;
mod idempotency;
mod locks;
mod policies;
mod stored_bytes;
mod thresholds;
