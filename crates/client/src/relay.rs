//! Receives the deliveries of a webhook over an outgoing WebSocket, so that the receiver needs no public address.

mod connection;
mod frames;
mod handlers;
mod runner;

pub use connection::RelayConnection;
pub use frames::{RelayResponse, RelayedRequest};
pub use runner::{Relay, RelayState};
