//! The port for the revocation journal. The journal records acts outside the database, such as the revocation of a key,
//! because a restored backup would undo them.

use std::fmt;

use crate::{AccountId, AccountSecrets, ApiKeyId, ApiTokenId, BadgeId, Timestamp};

/// A committed act that a restored backup would undo.
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
    /// The login secret and the recovery code of an account were replaced. [`AccountSecrets`] contains only their
    /// hashes. The secrets have 256 random bits, so they cannot be computed from the journal.
    SecretsReplaced(AccountId, AccountSecrets),
    /// Sessions were ended. A recovery ends all sessions, so the act names none.
    SessionsEnded,
}

impl JournaledAct {
    /// Returns true if the act only takes rights away. Such an act is safe to apply even if its commit is in doubt.
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

/// Records [acts](JournaledAct) outside the database. If the recording fails, the act still succeeds, and the journal
/// tries again later.
pub trait RevocationJournal: fmt::Debug + Send + Sync {
    /// Returns the name of this journal in the database. Under this name, the database stores a mark: a counter that
    /// grows with each transaction that journals an act. A database with a lower mark than the journal is an older
    /// backup. `None` if acts are recorded without marks.
    fn name(&self) -> Option<String>;

    /// Appends committed acts. `mark` is the mark that the same transaction has stored in the database. `server_time`
    /// is the time of the database server before the commit; `None` if the database has no server. All nodes share
    /// this clock, so the times order the acts of several journals.
    fn append(&self, mark: Option<u64>, server_time: Option<Timestamp>, acts: &[JournaledAct]);
}
