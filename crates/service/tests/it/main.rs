//! The service on real databases, seen from its callers and its operators.
#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

mod alive;
mod badges;
mod channels;
mod clocks;
mod compliance;
mod issuer;
mod kept;
mod logging_in;
mod looking;
mod lookups;
mod managing;
mod model;
mod operators;
mod owner;
mod support;
mod turned_away;
mod use_cases;
