//! The black-box tests: the real binary, real sockets, both databases. Nothing here knows how the service is built;
//! what it may rely on is the contract. Where a case does harm to the database by hand, or counts its rows, it names
//! tables. Each case starts servers of its own on free ports and on fresh data.

#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stderr,
    clippy::unwrap_used,
    reason = "a test fails by panicking, and says why"
)]

mod addresses;
mod allowances;
mod audit;
mod cluster;
mod commands;
mod crash;
mod demo;
mod docs;
mod governance;
mod http;
mod idempotency;
mod kek_rotation;
mod key_states;
mod limits;
mod main_job;
mod order;
mod outage;
mod precedence;
mod quotas;
mod rate_limits;
mod receivers;
mod refusals;
mod revocation;
mod secrets;
mod sessions;
mod shutdown;
mod startup;
mod support;
mod targets;
mod webhooks;
