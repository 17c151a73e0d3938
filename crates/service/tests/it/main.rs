//! Integration tests of the service on real databases. The tests call the service as callers and operators do.
#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

mod activity;
mod alive;
mod badges;
mod caller;
mod channels;
mod client;
mod compliance;
mod doubles;
mod housekeeping;
mod issuer;
mod model;
mod operators;
mod owner;
mod sign_up;
mod support;
mod transparency;
mod use_cases;
mod webhooks;
