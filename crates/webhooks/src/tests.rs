//! The dispatcher as a whole, over real sockets: what it needs around it, and the cases.

mod answering;
mod connecting;
mod delivering;
pub(crate) mod names;
pub(crate) mod outbox;
mod receiver;
pub(crate) mod rig;
mod signing;
mod sparing;
mod stopping;
mod withdrawing;
