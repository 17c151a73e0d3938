//! The endpoints `/v1/webhooks/…`: manage the webhooks of an API key, and the deliveries of events to them.

pub(super) mod action;
pub(super) mod delete;
pub(super) mod deliveries;
pub(super) mod enable;
mod examples;
pub(super) mod list;
pub(super) mod manage;
pub(super) mod recover;
pub(super) mod redeliver;
pub(super) mod register;
pub(super) mod relay;
pub(super) mod rotate_secret;
pub(super) mod test;
pub(super) mod update;
