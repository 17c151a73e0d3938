//! Queues deliveries in memory, and tracks deferred deliveries, which returned to the database without an attempt.
//!
//! [`target_queues`] has one queue for each target and uses [`fair_queue`] to choose the next target. [`capacity`]
//! bounds the number of deliveries in memory, for all threads together. [`host_rates`] bounds the requests to each
//! host. [`deferred_deliveries`] tracks deferred deliveries, and [`release_batch`] groups deliveries that return to the
//! database.

pub(crate) mod capacity;
pub(crate) mod deferred_deliveries;
pub(crate) mod fair_queue;
pub(crate) mod host_rates;
pub(crate) mod release_batch;
pub(crate) mod target_queues;
