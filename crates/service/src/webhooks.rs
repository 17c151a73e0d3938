//! The webhooks of an API key: their views, their deliveries and relays.

pub(crate) mod cursor;
pub(crate) mod deliveries;
pub(crate) mod relay;
pub(crate) mod view;
