//! Errors of stores.

/// Errors of a store.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// A concurrent transaction conflicted. Nothing was written; the work can be retried.
    #[error("a concurrent transaction conflicted")]
    Contended(#[source] BoxedError),
    /// A stored value is invalid.
    #[error("the stored {0} is invalid")]
    Corrupt(&'static str),
    /// The response to a commit was lost, so the commit may have taken effect. Retry idempotent
    /// work only.
    #[error("the response to the commit was lost: the commit may have taken effect")]
    InDoubt(#[source] BoxedError),
    /// The database rejected a statement.
    #[error("the database rejected a statement")]
    Refused(#[source] BoxedError),
    /// The database cannot be reached, or no connection became free in time.
    #[error("the database cannot be reached")]
    Unavailable(#[source] BoxedError),
}

/// A driver's error, for the log.
pub type BoxedError = Box<dyn std::error::Error + Send + Sync>;
