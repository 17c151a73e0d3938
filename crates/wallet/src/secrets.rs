//! Secrets that the service gives to clients and shows once: invites, login secrets, recovery codes, session tokens,
//! API tokens and webhook secrets. This module also contains the hashes of operators' passwords.

mod form_result;
mod password_hash;
mod token;
mod webhook_secret;

pub use form_result::{open_form_result, seal_form_result};
pub use password_hash::{PasswordHash, PasswordHashError};
pub use token::{
    FormId, InviteSecret, KeyToken, LoginSecret, RecoveryCode, SessionToken, same_hash,
};
pub use webhook_secret::WebhookSecret;
