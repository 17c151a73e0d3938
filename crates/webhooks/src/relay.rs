//! Relays: webhooks whose receivers have no public address. The receiver opens a connection to the service. The service
//! sends on this connection the requests that other targets get by HTTP.
//!
//! The API owns the sockets. This module tracks the connections to this node, sends deliveries on them, and waits for
//! the answers.

mod hub;
mod relay_target;

pub(crate) use self::{hub::RelayHub, relay_target::RelayTarget};
