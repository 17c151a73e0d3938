//! The error of a command, with advice for the user.

use std::{
    io,
    path::{Path, PathBuf},
};

use sealpost_client::ClientError;
use sealpost_mcp::ServeError;

/// The failure of a command.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ShellError {
    /// The call of the service failed.
    #[error(transparent)]
    Call(#[from] ClientError),
    /// A file cannot be read or written.
    #[error("{} cannot be {action}", file.display())]
    File {
        /// Path of the file.
        file: PathBuf,
        /// The failed action, for example `written`.
        action: &'static str,
        /// The error of the operating system.
        #[source]
        source: io::Error,
    },
    /// Standard input cannot be used.
    #[error("standard input cannot be read")]
    Input(#[source] io::Error),
    /// A signal ended the command before it was done.
    #[error("interrupted")]
    Interrupted,
    /// Any other failure, such as an invalid argument, an invalid file or a failed check. The text names the failure
    /// and usually the fix.
    #[error("{0}")]
    Invalid(String),
    /// The profile does not exist.
    #[error("there is no profile {0}: create it with sealpost login --profile {0}")]
    NoProfile(String),
    /// Standard output cannot be written.
    #[error("cannot write to standard output")]
    Output(#[source] io::Error),
    /// The tools for agents cannot be served.
    #[error(transparent)]
    Serve(#[from] ServeError),
    /// The asynchronous runtime cannot start.
    #[error("the asynchronous runtime cannot start")]
    Runtime(#[source] io::Error),
}

impl ShellError {
    /// Returns a function that adds the file and the failed action to an error of the operating system.
    pub(crate) fn for_file(file: &Path, action: &'static str) -> impl Fn(io::Error) -> Self {
        move |source| Self::File { file: file.to_owned(), action, source }
    }
}
