//! Queues deliveries in memory, and remembers deferred deliveries.
//!
//! [`target_queues`] has one queue for each target and uses [`fair_queue`] to choose the next one. [`capacity`] bounds
//! the number of deliveries in memory, for all threads together. [`host_rates`] bounds the requests to each host.
//! [`deferred_deliveries`] remembers deliveries after their release to the database, and [`release_batch`] groups
//! deliveries for the release.

pub(crate) mod capacity;
pub(crate) mod deferred_deliveries;
pub(crate) mod fair_queue;
pub(crate) mod host_rates;
pub(crate) mod release_batch;
pub(crate) mod target_queues;
