//! The port for accounts and sessions.

use super::error::StoreError;
use crate::{
    Account, AccountId, AccountSecrets, PartnerId, RequestSource, Session, Timestamp, TokenHash,
};

/// Writes accounts and sessions.
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

    /// Sets the last use of sessions to `hour`, the start of an hour. Skips sessions that have ended, or that have this
    /// last use or a later one.
    fn set_last_use(&mut self, sessions: &[TokenHash], hour: Timestamp) -> Result<(), StoreError>;

    /// Deletes the session of a token.
    fn delete_session(&mut self, token: &TokenHash) -> Result<(), StoreError>;

    /// Deletes all sessions of an account.
    fn delete_sessions_of(&mut self, account: &AccountId) -> Result<(), StoreError>;

    /// Deletes up to `limit` sessions of an account, or of all accounts. Returns their number.
    fn end_sessions(&mut self, account: Option<&AccountId>, limit: u32) -> Result<u64, StoreError>;

    /// Replaces the account's login secret and recovery code.
    fn set_account_secrets(
        &mut self,
        account: &AccountId,
        secrets: &AccountSecrets,
    ) -> Result<(), StoreError>;

    /// Records that the login secret was given again in this session.
    fn confirm_session(&mut self, token: &TokenHash, at: Timestamp) -> Result<(), StoreError>;

    /// Assigns the account to a partner; `None` ends the current assignment. Returns `false` if the account does not
    /// exist.
    fn set_partner(
        &mut self,
        account: &AccountId,
        partner: Option<&PartnerId>,
    ) -> Result<bool, StoreError>;
}
