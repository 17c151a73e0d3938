//! The acts on webhooks and their deliveries.
//!
//! The first transaction checks the session, the key and the limits, and counts the request. This transaction must be
//! short, because it locks rows that requests to send messages with the key need. A second transaction makes the
//! change, because some changes take long.

pub(crate) mod change;
pub(crate) mod redeliver;
pub(crate) mod register;
pub(crate) mod test;
