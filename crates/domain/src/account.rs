//! Accounts own identities; sessions stand for accounts.

use crate::{AccountId, Timestamp, TokenHash};

/// An account as it is opened by its first activation.
#[derive(Debug, Clone)]
pub struct Account {
    /// Its public name, needed to log in.
    pub id: AccountId,
    /// Of the login secret, shown once when the account is opened.
    pub login_secret: TokenHash,
    /// When it was opened.
    pub created_at: Timestamp,
}

/// A login that has not ended. Its token is known by its hash alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Session {
    /// Of the token that the caller shows.
    pub token: TokenHash,
    /// Whom it stands for.
    pub account_id: AccountId,
    /// From this instant on it is worth nothing.
    pub expires_at: Timestamp,
}

impl Session {
    /// Whether the session still counts at `now`.
    pub fn is_live(&self, now: Timestamp) -> bool {
        now < self.expires_at
    }
}
