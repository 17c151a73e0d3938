//! `/v1/webhooks`: webhooks of a key and their deliveries.

pub(super) mod manage;
pub(super) mod register;
