//! The port for the revocation journal: a file outside the database. After an older backup of the database is restored,
//! the revocations in the journal are repeated: see [`JournaledAct`].

use std::fmt;

use crate::{AccountId, AccountSecrets, ApiKeyId, ApiTokenId, BadgeId, Timestamp};

/// A change in the revocation journal: a revocation or a similar change that the restore of an older backup would undo.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JournaledAct {
    /// An account was closed permanently.
    AccountClosed(AccountId),
    /// An account was closed permanently, and the personal data of its owner was erased.
    AccountErased(AccountId),
    /// An API token was revoked.
    ApiTokenRevoked(ApiTokenId),
    /// A badge was revoked.
    BadgeRevoked(BadgeId),
    /// A deactivated key was activated again. Cancels an earlier deactivation.
    KeyActivated(ApiKeyId),
    /// A key was deactivated.
    KeyDeactivated(ApiKeyId),
    /// A key was revoked permanently.
    KeyRevoked(ApiKeyId),
    /// The login secret and the recovery code of an account were replaced. Contains only hashes of the new secrets,
    /// which have 256 random bits and cannot be computed from the hashes.
    SecretsReplaced(AccountId, AccountSecrets),
    /// Sessions were ended. Names none, because all sessions are ended after a restore.
    SessionsEnded,
}

impl JournaledAct {
    /// Returns true if the change only takes rights away. Repeating such a change is safe, so the journal records the
    /// change even if the result of its commit is unknown.
    pub fn only_revokes(&self) -> bool {
        match self {
            Self::AccountClosed(_)
            | Self::AccountErased(_)
            | Self::ApiTokenRevoked(_)
            | Self::BadgeRevoked(_)
            | Self::KeyDeactivated(_)
            | Self::KeyRevoked(_)
            | Self::SessionsEnded => true,
            Self::KeyActivated(_) | Self::SecretsReplaced(..) => false,
        }
    }
}

/// Records changes outside the database: see [`JournaledAct`]. If the recording fails, the transaction of the changes
/// still succeeds, and the journal tries again later.
pub trait RevocationJournal: fmt::Debug + Send + Sync {
    /// Returns the name of this journal's counter in the database. Each transaction with recorded changes raises the
    /// counter, and the journal records the new value as the mark. If the counter is lower than the newest mark, the
    /// database is an older backup. `None` if the journal has no counter.
    fn name(&self) -> Option<String>;

    /// Appends the changes of one transaction.
    ///
    /// - `mark`: the value of the [counter](Self::name) that the transaction has stored in the database. `None` if the
    ///   transaction stored none, or if the result of its commit is unknown.
    /// - `server_time`: the time of the database server before the commit, which orders the changes of several
    ///   journals. `None` if the database has no server.
    fn append(&self, mark: Option<u64>, server_time: Option<Timestamp>, acts: &[JournaledAct]);
}
