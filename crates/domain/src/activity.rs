//! The activity of an account: acts on it, for its owner. Sends are not activity.

mod entry;
mod kind;
mod request_source;

pub use entry::{Activity, ActivityActor};
pub use kind::ActivityKind;
pub use request_source::{RequestSource, UserAgent};
