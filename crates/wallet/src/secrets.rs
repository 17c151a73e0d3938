//! Secrets that the service gives to clients and shows once: invites, login secrets, session tokens and webhook
//! secrets.

mod token;
mod webhook_secret;

pub use token::{InviteSecret, LoginSecret, SessionToken, same_hash};
pub use webhook_secret::WebhookSecret;
