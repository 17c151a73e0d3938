//! The port for writes of accounts and sessions.

use crate::ports::error::StoreError;
use crate::{
    Account, AccountId, AccountSecrets, PartnerId, RequestSource, Session, Timestamp, TokenHash,
};

/// Writes accounts and their sessions.
pub trait AccountRepo {
    /// Inserts an account.
    fn insert_account(&mut self, account: &Account) -> Result<(), StoreError>;

    /// Locks an account until the transaction ends. Returns `false` if the account does not exist or is closed.
    fn lock_account(&mut self, id: &AccountId) -> Result<bool, StoreError>;

    /// Inserts a session that begins at `started_at`, by a login from `source`.
    fn insert_session(
        &mut self,
        session: &Session,
        started_at: Timestamp,
        source: &RequestSource,
    ) -> Result<(), StoreError>;

    /// Sets the time of last use of sessions to `hour`, the start of an hour. Skips sessions that no longer exist. Also
    /// skips sessions with a stored time of last use that is equal to `hour` or at most an hour later. A later time came
    /// from a wrong clock.
    fn set_last_use(&mut self, sessions: &[TokenHash], hour: Timestamp) -> Result<(), StoreError>;

    /// Deletes the session with this token. Does nothing if no session has the token.
    fn delete_session(&mut self, token: &TokenHash) -> Result<(), StoreError>;

    /// Deletes all sessions of one account.
    fn delete_sessions_of(&mut self, account: &AccountId) -> Result<(), StoreError>;

    /// Deletes up to `limit` sessions of an account, or of all accounts if `account` is `None`. Returns the number of
    /// deleted sessions.
    fn end_sessions(&mut self, account: Option<&AccountId>, limit: u32) -> Result<u64, StoreError>;

    /// Replaces the account's login secret and recovery code.
    fn set_account_secrets(
        &mut self,
        account: &AccountId,
        secrets: &AccountSecrets,
    ) -> Result<(), StoreError>;

    /// Records `at` as the time at which the client last entered the login secret again in this session.
    fn confirm_session(&mut self, token: &TokenHash, at: Timestamp) -> Result<(), StoreError>;

    /// Clears the time at which the login secret was last entered again, for all sessions of the account except `kept`.
    fn unconfirm_sessions(
        &mut self,
        account: &AccountId,
        kept: &TokenHash,
    ) -> Result<(), StoreError>;

    /// Assigns the account to a partner. `None` removes the account from its partner. Returns `false` if the account
    /// does not exist.
    fn set_partner(
        &mut self,
        account: &AccountId,
        partner: Option<&PartnerId>,
    ) -> Result<bool, StoreError>;
}
