//! Tests of webhooks and their deliveries.

mod deliveries;
mod listing;
mod relays;
mod rotations;
mod thresholds;
