//! Tests of crashes, shutdown, database outages, and several nodes on one database.

mod cluster;
mod crash;
pub(crate) mod failover;
mod outage;
mod pooler;
mod readiness;
mod shutdown;
