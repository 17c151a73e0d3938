//! Tests of webhooks and their deliveries.

mod changes;
mod deliveries;
mod listing;
mod relays;
mod rotations;
mod thresholds;
