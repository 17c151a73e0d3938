//! The activity of an account: a log of logins and of changes to the account, its API keys and its webhooks. The owner
//! of the account can read the log. Sent messages are not logged.

mod entry;
mod kind;
mod request_source;

pub use entry::{Activity, ActivityActor};
pub use kind::ActivityKind;
pub use request_source::{RequestSource, UserAgent};
