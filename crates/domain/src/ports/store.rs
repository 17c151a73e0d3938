//! The database as the service sees it: its errors, the durability of commits, and the authentication of rows.

use std::{fmt, time::Duration};

/// Decides whether a commit waits until the data is on disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    /// The commit waits for the disk, so the transaction survives a crash of the machine.
    Durable,
    /// The commit does not wait for the disk. A crash of the machine may lose the newest transactions, each as a whole.
    /// Use this for repeatable work, such as recording the outcome of an attempt.
    Relaxed,
}

/// The oldest snapshot that the database must serve. The database keeps all row versions that this snapshot may read,
/// so an old snapshot lets the database grow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OldestSnapshot {
    /// The session, replica, prepared transaction or replication slot that has the snapshot.
    pub holder: String,
    /// Time since the start of the holder's transaction; `None` if the database does not show it.
    pub age: Option<Duration>,
    /// Number of later transactions; `None` on SQLite, which does not count them.
    pub transactions: Option<u64>,
}

/// An error of the database, classified by the possible reaction of the caller.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// A concurrent transaction conflicted. Nothing was written, so the caller can retry.
    #[error("a concurrent transaction conflicted")]
    Contended(#[source] BoxedError),
    /// A stored value cannot be read. Contains the name of the value.
    #[error("the stored {0} is invalid")]
    Corrupt(&'static str),
    /// The connection failed during a commit, so it is unknown whether the commit took effect. Retry only idempotent
    /// work.
    #[error("the response to the commit was lost: the commit may have taken effect")]
    InDoubt(#[source] BoxedError),
    /// The database rejected a statement.
    #[error("the database rejected a statement")]
    Refused(#[source] BoxedError),
    /// The database cannot be reached, or no connection became free within the connection timeout.
    #[error("the database cannot be reached")]
    Unavailable(#[source] BoxedError),
}

/// The error of the database driver, for the log.
pub type BoxedError = Box<dyn std::error::Error + Send + Sync>;

/// Computes and verifies the tags (message authentication codes) of rows. A tag covers the columns that decide who may
/// log in or act. Without the key of the tags, an attacker with write access to the database cannot forge these
/// columns.
pub trait RowAuthenticator: fmt::Debug + Send + Sync {
    /// Computes the tag of a row under the newest version of the key.
    fn tag(&self, table: &'static str, columns: &[Vec<u8>]) -> Result<Vec<u8>, StoreError>;

    /// Returns whether the tag belongs to this row. Fails if the version of the key that made the tag is missing.
    fn is_valid(
        &self,
        table: &'static str,
        columns: &[Vec<u8>],
        tag: &[u8],
    ) -> Result<bool, StoreError>;

    /// Returns the first four bytes of every tag under the newest version of the key. All tags that sort before these
    /// bytes were made under older versions, and must be renewed.
    fn newest_prefix(&self) -> [u8; 4];
}
