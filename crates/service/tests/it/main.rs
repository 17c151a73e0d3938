//! The service on real databases, seen from its callers and its operators.
#![expect(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

mod model;
mod operators;
mod owner;
mod support;
mod use_cases;
