//! Accounts and sessions. An account owns identities (API keys); a session authenticates the requests of one account.

use crate::{AccountId, RequestSource, Timestamp, TokenHash};

/// An account, which owns API keys. Created together with its first key.
#[derive(Debug, Clone)]
pub struct Account {
    /// Public id of the account, with the prefix `acct_`. A login needs this id and the login secret.
    pub id: AccountId,
    /// Hashes of the account's secrets. Each secret itself is shown only once, when it is created or replaced.
    pub secrets: AccountSecrets,
    /// Time at which the account was created.
    pub created_at: Timestamp,
}

/// The hashes of an account's login secret and recovery code. Both secrets are replaced together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AccountSecrets {
    /// Hash of the login secret, which opens sessions.
    pub login_secret: TokenHash,
    /// Hash of the recovery code, which replaces a lost login secret.
    pub recovery_code: TokenHash,
}

/// A login session. Only the hash of its token is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Session {
    /// Hash of the bearer token. Identifies the session.
    pub token: TokenHash,
    /// The account whose requests the session authenticates.
    pub account_id: AccountId,
    /// End of the session's validity, exclusive.
    pub expires_at: Timestamp,
}

impl Session {
    /// Returns true if the session has not expired at `now`.
    pub fn is_live(&self, now: Timestamp) -> bool {
        now < self.expires_at
    }
}

/// A session, as shown to the owner of the account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionDetails {
    /// The session.
    pub session: Session,
    /// Time of the login.
    pub started_at: Timestamp,
    /// Start of the hour of the last known use. `None` if no use was recorded.
    pub last_used_at: Option<Timestamp>,
    /// The client that logged in.
    pub source: RequestSource,
}
