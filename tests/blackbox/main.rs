//! Black-box tests: run the real binary on real sockets, and on both databases where the result depends on them.
//!
//! The tests rely only on the contract. A case that damages the database or counts rows names tables. Each case starts
//! its own servers on free ports with new data, except for cases that look only at what they create themselves: they
//! share a server.

#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stderr,
    clippy::unwrap_used,
    reason = "a test fails with a panic that names the cause"
)]

mod accounts;
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
