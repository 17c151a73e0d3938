//! The errors of all database ports.

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
