//! The port for the revocation journal: a file outside the database that repeats revocations after a backup of the
//! database is restored. It contains [acts](JournaledAct).

use std::fmt;

use crate::{AccountId, AccountSecrets, ApiKeyId, ApiTokenId, BadgeId, Timestamp};

/// An act of the revocation journal: a revocation or a similar change that a restored backup would undo.
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
    /// Returns true if the act only takes rights away. Such an act is safe to repeat, so the journal records it even if
    /// it is unknown whether its commit took effect.
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

/// Records [acts](JournaledAct) outside the database. If the recording fails, the transaction of the acts still
/// succeeds, and the journal tries again later.
pub trait RevocationJournal: fmt::Debug + Send + Sync {
    /// Returns the name under which the database stores the mark of this journal: a counter that each transaction with
    /// acts raises. If the mark in the database is lower than the newest mark in the journal, the database is an older
    /// backup. `None` if acts are recorded without marks.
    fn name(&self) -> Option<String>;

    /// Appends the acts of one transaction.
    ///
    /// - `mark`: the [mark](Self::name) that the transaction has stored in the database. `None` if it stored none, or
    ///   if it is unknown whether its commit took effect.
    /// - `server_time`: the time of the database server before the commit, which orders the acts of several journals.
    ///   `None` if the database has no server.
    fn append(&self, mark: Option<u64>, server_time: Option<Timestamp>, acts: &[JournaledAct]);
}
