//! Tests of the delivery queue.

mod attempt_log;
mod bounces;
mod claims;
mod disabled_webhooks;
mod events;
mod expiry;
mod fair_claims;
mod full_tables;
mod incidents;
mod outcomes;
mod receipts;
mod redelivery;
mod relays;
mod rotations;
mod sent;
mod waiting;
mod webhook_updates;
