//! Secrets that the service gives to clients and shows once: invites, login secrets, recovery codes, session tokens,
//! API tokens and webhook secrets.

mod token;
mod webhook_secret;

pub use token::{InviteSecret, KeyToken, LoginSecret, RecoveryCode, SessionToken, same_hash};
pub use webhook_secret::WebhookSecret;
