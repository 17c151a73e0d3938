//! The webhooks of an API key: register, list, change and delete them, and show or repeat their deliveries.

pub(crate) mod cursor;
pub(crate) mod deliveries;
pub(crate) mod delivery_state;
mod find;
pub(crate) mod manage;
pub(crate) mod redeliver;
pub(crate) mod register;
pub(crate) mod relay;
pub(crate) mod rotate_secret;
pub(crate) mod test;
pub(crate) mod update;
pub(crate) mod view;
pub(crate) mod waiting;
