//! The acts on webhooks and their deliveries.
//!
//! The first transaction checks the session, the key and the limits, and counts the request. This transaction locks
//! rows that sends of the key need, so it must be short. A second transaction makes the change, because some changes
//! take long.

pub(crate) mod change;
pub(crate) mod redeliver;
pub(crate) mod register;
pub(crate) mod test;
