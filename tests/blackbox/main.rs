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

mod api;
mod command_line;
mod keys;
mod limits;
mod operations;
mod operators;
mod pages;
mod receiving;
mod resilience;
mod support;
mod webhooks;
