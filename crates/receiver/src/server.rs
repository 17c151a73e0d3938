//! The HTTP server of a receiver: verifies requests, reports the results, and forwards the valid requests to an
//! application.

mod application;
mod forwarding;
mod handler;
mod listener;
mod relayed;

pub use forwarding::{ForwardError, ForwardedResponse};
pub use handler::{HandledRequest, KeySource, KeySourceError, RequestObserver};
pub use listener::{Listener, ListenerOptions, RunningListener};
pub use relayed::{HandledResponse, RequestHandler};
