//! The black-box tests: the real binary, real sockets, both databases. Nothing here knows how the service is built;
//! what it may rely on is the contract. Each case starts servers of its own on free ports and on fresh data.

#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stderr,
    clippy::unwrap_used,
    reason = "a test fails by panicking, and says why"
)]

mod cluster;
mod crash;
mod demo;
mod http;
mod limits;
mod main_job;
mod order;
mod outage;
mod quotas;
mod receivers;
mod refusals;
mod secrets;
mod sessions;
mod shutdown;
mod startup;
mod support;
mod targets;
mod webhooks;
