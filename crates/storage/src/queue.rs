//! The delivery queue: claims, leases, outcomes, bounces, and deliveries that are sent
//! again.

pub(crate) mod bounces;
pub(crate) mod claim_cursor;
pub(crate) mod claims;
pub(crate) mod delivery_log;
pub(crate) mod events;
pub(crate) mod outbox;
pub(crate) mod outcomes;
pub(crate) mod redelivery;
pub(crate) mod statements;
pub(crate) mod success_throttle;
