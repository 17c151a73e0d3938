//! The delivery queue.

mod attempt_log;
mod claims;
mod disabled_webhooks;
mod fair_claims;
mod outcomes;
mod redelivery;
