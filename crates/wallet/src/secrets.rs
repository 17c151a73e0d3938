//! Secrets that leave the service, each shown once: login secrets, session tokens, webhook secrets.

mod token;
mod webhook_secret;

pub use token::{InviteSecret, LoginSecret, SessionToken, same_hash};
pub use webhook_secret::WebhookSecret;
