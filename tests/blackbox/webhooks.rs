//! Tests of webhooks: registration, targets, failing receivers, the delivery log, redelivery, secrets.

mod actions;
mod bounces;
mod delivery_log;
mod failing_receivers;
mod hosts;
mod incidents;
mod interim_responses;
mod interleavings;
mod lifecycle;
mod misbehaving_receivers;
mod receipts;
mod redelivery;
mod relays;
mod rotations;
mod secret_rotation;
mod targets;
mod test_events;
mod thresholds;
mod unrecorded_outcomes;
mod updates;
mod waiting;
