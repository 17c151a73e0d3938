//! The acts on webhooks and their deliveries.
//!
//! The first transaction of a request checks the session, the key and the limits, and counts the request. It must be
//! short, because it locks rows that requests to send messages with the key need. The change follows in a second
//! transaction, because some changes take long. It checks session and key again.

pub(crate) mod change;
pub(crate) mod redeliver;
pub(crate) mod register;
pub(crate) mod test;
