//! Commands of the `sealpost` binary that call a service as one identity: login, send, open, keys, tokens,
//! webhooks, and the tools of agents.
//!
//! `sealpost login` stores the service, the identity and its secrets in a profile: a file in the user's configuration
//! folder that only the user can read. The other commands use this profile. Secrets are never arguments, because every
//! user of a machine can list the arguments of processes.

mod cli;
mod commands;
mod error;
mod examples;
mod input;
mod output;
mod profile;
mod table;
mod temporary_webhook;

pub use cli::{ProfileArgs, ServiceCommand};
pub use commands::{ProfileClient, run};
pub use error::ShellError;
pub use examples::EXAMPLES;
pub use output::{print, tolerate_closed_pipe};
pub use sealpost_client::{Client, Relay, RelayResponse, RelayState, RelayedRequest};
pub use table::table;
pub use temporary_webhook::{TemporaryWebhook, profile_client};
