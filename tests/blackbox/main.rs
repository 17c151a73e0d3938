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
mod backup;
mod bad_receivers;
mod badges;
mod body_memory;
mod channels;
mod cluster;
mod command_line;
mod commands;
mod compliance;
mod crash;
mod dashboard;
mod demo;
mod docs;
mod doctor;
mod governance;
mod http;
mod idempotency;
mod issuer;
mod kek_rotation;
mod key_states;
mod limits;
mod listen;
mod logs;
mod main_job;
mod manage_again;
mod manage_deliveries;
mod manage_secrets;
mod metrics;
mod order;
mod outage;
mod precedence;
mod quotas;
mod rate_limits;
mod receivers;
mod receiving;
mod refusals;
mod revocation;
mod secrets;
mod sessions;
mod shutdown;
mod startup;
mod support;
mod targets;
mod tls;
mod verifiers;
mod verify;
mod webhooks;
