//! Tests of webhooks and their deliveries.

mod deliveries;
mod listing;
mod rotations;
mod thresholds;
