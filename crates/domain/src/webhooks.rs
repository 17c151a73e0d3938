//! Webhooks, the events that they subscribe to, and the deliveries of these events.

pub(crate) mod attempt;
pub(crate) mod bounce;
pub(crate) mod delivery;
pub(crate) mod event;
pub(crate) mod event_details;
pub(crate) mod event_id;
pub(crate) mod event_kind;
pub(crate) mod health;
pub(crate) mod incident;
pub(crate) mod rotation;
pub(crate) mod stored_event;
pub(crate) mod threshold;
pub(crate) mod webhook;
