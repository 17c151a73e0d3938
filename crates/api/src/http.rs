//! The API over HTTP: one table of routes, extractors that yield the caller, one place that maps refusals.

mod access;
mod body;
mod body_memory;
mod caller;
mod client_address;
mod envelope;
mod fields;
mod forwarded;
pub(crate) mod handlers;
mod head;
mod idempotency;
mod problem;
mod rate_limit;
mod routes;
mod status;
mod throttle;

pub(crate) use body_memory::BodyMemory;
pub use envelope::{PAGE_TYPE, envelope};
pub use problem::{Problem, ProblemDocument, whole_seconds};
pub use rate_limit::RateLimit;
pub(crate) use routes::served;
pub use routes::{endpoints, no_such_path, refuse_method, routes};
pub use status::status_and_title;
pub use throttle::{Throttle, admit_activation, admit_login};

pub(crate) use crate::state::ApiState;
