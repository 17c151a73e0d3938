//! The errors of a node, with advice for the operator.

use std::{error::Error, fmt};

use sealpost_domain::with_causes;

/// An error of a node, or of an operator command that uses parts of a node. Each variant is for one kind of cause.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NodeError {
    /// An address of the HTTP servers cannot be bound, or the server on the address cannot start.
    #[error(transparent)]
    Address(Failure),
    /// The file of compliance circuits is unreadable or invalid.
    #[error(transparent)]
    Circuits(Failure),
    /// Two settings exclude each other.
    #[error(transparent)]
    Contradiction(Failure),
    /// The database cannot be used, for example because it cannot be opened.
    #[error(transparent)]
    Database(Failure),
    /// A file or folder of the operator cannot be used, such as a secret file, a backup or a revocation journal.
    #[error(transparent)]
    File(Failure),
    /// The key provider refuses the use of its key, or cannot be used.
    #[error(transparent)]
    KeyProvider(Failure),
    /// The key-encryption keys cannot be read, created or rotated.
    #[error(transparent)]
    Keys(Failure),
    /// A setting has an invalid value.
    #[error(transparent)]
    Setting(Failure),
    /// The node or one of its parts cannot start, for a reason that no other variant covers.
    #[error(transparent)]
    Start(Failure),
    /// The TLS certificate or its private key cannot be used.
    #[error(transparent)]
    Tls(Failure),
}

impl NodeError {
    /// Returns the error and its causes in one line.
    pub fn with_causes(&self) -> String {
        with_causes(self)
    }
}

/// Converts a database error to a [`NodeError`].
pub fn database_error(error: impl Error + Send + Sync + 'static) -> NodeError {
    NodeError::Database(Failure::caused("the database cannot be used", error))
}

/// Converts an error about the key-encryption keys, whose message contains advice, to a [`NodeError`].
pub(crate) fn keys_error(error: impl Error + Send + Sync + 'static) -> NodeError {
    NodeError::Keys(Failure::of(error))
}

/// An error message with advice for the operator, and the error that caused it.
#[derive(Debug)]
pub struct Failure {
    /// The message with the advice. If `None`, the message of the cause is displayed, which already contains advice.
    message: Option<String>,
    cause: Option<Box<dyn Error + Send + Sync>>,
}

impl Failure {
    /// Creates a failure without a cause.
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self { message: Some(message.into()), cause: None }
    }

    /// Creates a failure with a cause.
    pub(crate) fn caused(
        message: impl Into<String>,
        cause: impl Into<Box<dyn Error + Send + Sync>>,
    ) -> Self {
        Self { message: Some(message.into()), cause: Some(cause.into()) }
    }

    /// Creates a failure that displays the message of its cause, because that message already contains advice.
    pub(crate) fn of(cause: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self { message: None, cause: Some(cause.into()) }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.message, &self.cause) {
            (Some(message), _) => f.write_str(message),
            (None, Some(cause)) => write!(f, "{cause}"),
            (None, None) => Ok(()),
        }
    }
}

impl Error for Failure {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        let cause = self.cause.as_deref()?;
        if self.message.is_some() { Some(cause) } else { cause.source() }
    }
}
