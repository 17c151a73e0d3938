//! The endpoints `/v1/webhooks/…`: manage the webhooks of an API key, and the deliveries of events to them.

pub(super) mod act;
pub(super) mod any_act;
pub(super) mod changes;
pub(super) mod deliveries;
mod examples;
pub(super) mod register;
pub(super) mod relay;
