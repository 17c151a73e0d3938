//! The error of a node, with advice for the operator.

use std::{error::Error, fmt};

use sealpost_domain::with_causes;
use sealpost_wallet::ProviderError;

/// An error of a node, or of an operator command that uses parts of a node: a message with advice for the operator, and
/// the error that caused it.
#[derive(Debug)]
pub struct NodeError {
    kind: NodeErrorKind,
    /// The message with the advice. If `None`, the message of the cause is displayed, which already contains advice.
    message: Option<String>,
    cause: Option<Box<dyn Error + Send + Sync>>,
}

/// The kinds of errors that callers handle differently.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum NodeErrorKind {
    /// Two settings exclude each other.
    Contradiction,
    /// The key provider refuses the use of its key, or cannot be used.
    KeyProvider,
    /// Any other error.
    Other,
}

impl NodeError {
    /// Creates an error without a cause.
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self { kind: NodeErrorKind::Other, message: Some(message.into()), cause: None }
    }

    /// Creates an error with a cause.
    pub(crate) fn caused(
        message: impl Into<String>,
        cause: impl Into<Box<dyn Error + Send + Sync>>,
    ) -> Self {
        Self { message: Some(message.into()), ..Self::caused_by(cause) }
    }

    /// Creates an error that displays the message of its cause, because that message already contains advice.
    pub(crate) fn caused_by(cause: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self { kind: NodeErrorKind::Other, message: None, cause: Some(cause.into()) }
    }

    /// Creates an error about two settings that exclude each other.
    pub(crate) fn contradiction(message: &str) -> Self {
        Self { kind: NodeErrorKind::Contradiction, ..Self::new(message) }
    }

    /// Creates an error of the key provider, which displays the message of its cause.
    pub(crate) fn key_provider(cause: ProviderError) -> Self {
        Self { kind: NodeErrorKind::KeyProvider, ..Self::caused_by(cause) }
    }

    /// Returns the kind of the error.
    pub fn kind(&self) -> NodeErrorKind {
        self.kind
    }

    /// Returns the error and its causes in one line.
    pub fn with_causes(&self) -> String {
        with_causes(self)
    }
}

/// Converts a database error to a [`NodeError`].
pub fn database_error(error: impl Error + Send + Sync + 'static) -> NodeError {
    NodeError::caused("the database cannot be used", error)
}

impl fmt::Display for NodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.message, &self.cause) {
            (Some(message), _) => f.write_str(message),
            (None, Some(cause)) => write!(f, "{cause}"),
            (None, None) => Ok(()),
        }
    }
}

impl Error for NodeError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        let cause = self.cause.as_deref()?;
        if self.message.is_some() { Some(cause) } else { cause.source() }
    }
}
