//! The activity of an account: a log of logins and of changes to the account, its API keys and its webhooks. The owner
//! of the account can read the log. Sent messages are not logged.

mod entry;
mod kind;

pub use entry::{Activity, ActivityActor, RequestSource, UserAgent};
pub use kind::ActivityKind;
