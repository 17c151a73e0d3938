//! Errors of a node.

use std::{error::Error, fmt};

/// Why a node, or a part of one, cannot start. Each variant names the part.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NodeError {
    /// Two settings exclude each other.
    #[error(transparent)]
    Contradiction(Failure),
    /// A setting has a value that cannot be used.
    #[error(transparent)]
    Setting(Failure),
    /// The database cannot be used.
    #[error(transparent)]
    Database(Failure),
    /// The key-encryption keys cannot be read or made.
    #[error(transparent)]
    Keys(Failure),
    /// A file cannot be used.
    #[error(transparent)]
    File(Failure),
    /// The circuits cannot be used.
    #[error(transparent)]
    Circuits(Failure),
    /// The certificate or its key cannot be used.
    #[error(transparent)]
    Tls(Failure),
    /// An address cannot be served.
    #[error(transparent)]
    Address(Failure),
    /// A part of the node cannot start.
    #[error(transparent)]
    Start(Failure),
}

impl NodeError {
    /// The error and its causes, in one line.
    pub fn with_causes(&self) -> String {
        let mut line = one_line(self);
        let mut cause = self.source();
        while let Some(error) = cause {
            line.push_str(": ");
            line.push_str(&one_line(error));
            cause = error.source();
        }
        line
    }
}

fn one_line(error: &dyn Error) -> String {
    error.to_string().trim().replace('\n', " ")
}

/// A message that says what to do, and its cause.
#[derive(Debug)]
pub struct Failure {
    /// `None` if the cause says itself what to do.
    message: Option<String>,
    cause: Option<Box<dyn Error + Send + Sync>>,
}

impl Failure {
    /// A failure that needs no other explanation.
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self { message: Some(message.into()), cause: None }
    }

    /// A failure whose cause is worth showing.
    pub(crate) fn caused(
        message: impl Into<String>,
        cause: impl Into<Box<dyn Error + Send + Sync>>,
    ) -> Self {
        Self { message: Some(message.into()), cause: Some(cause.into()) }
    }

    /// An error that says itself what to do.
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
