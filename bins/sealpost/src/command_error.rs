//! The error type of all commands: one line with advice for standard error, and an exit status.

use std::{
    error::Error,
    fmt,
    io::{self, Write as _},
    process::ExitCode,
};

use sealpost_domain::with_causes;
use sealpost_node::{NodeError, NodeErrorKind};
use sealpost_receiver::{ReceiverError, escape_control};
use sealpost_service::OperatorError;
use sealpost_shell::ShellError;

use crate::cli::help_flag;

/// The failure of a command: its message and its exit status.
#[derive(Debug)]
pub(crate) struct CommandError {
    message: String,
    status: u8,
}

impl CommandError {
    /// The exit status for wrong usage, such as an invalid argument.
    pub(crate) const WRONG_USAGE: u8 = 2;
    const FAILED: u8 = 1;

    /// Creates a failure with exit status 1.
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), status: Self::FAILED }
    }

    /// Creates a failure with a message that ends with `source` and its causes.
    pub(crate) fn caused(
        message: impl Into<String>,
        source: impl Into<Box<dyn Error + Send + Sync>>,
    ) -> Self {
        Self::new(format!("{}: {}", message.into(), with_causes(&*source.into())))
    }

    /// Creates a failure with the text of an error, which already contains advice. Appends the causes of the error.
    pub(crate) fn caused_by(error: &dyn Error) -> Self {
        Self::new(with_causes(error))
    }

    /// Creates a failure with the exit status of wrong usage.
    pub(crate) fn usage(message: impl fmt::Display) -> Self {
        Self { message: message.to_string(), status: Self::WRONG_USAGE }
    }

    /// Creates the failure for an error while writing to standard output.
    pub(crate) fn output(error: io::Error) -> Self {
        Self::caused("cannot write to standard output", error)
    }

    /// Prints the failure on standard error and returns its exit status. Wrong usage also gets a hint to read the help
    /// of `command`.
    pub(crate) fn report(&self, command: &str) -> ExitCode {
        let hint = if self.status == Self::WRONG_USAGE {
            format!("; see {command} {}", help_flag(command))
        } else {
            String::new()
        };
        // A failed write cannot be reported, because standard error is closed. The exit status still reports the
        // failure.
        drop(io::stderr().write_all(format!("sealpost: {self}{hint}\n").as_bytes()));
        ExitCode::from(self.status)
    }
}

impl From<NodeError> for CommandError {
    fn from(error: NodeError) -> Self {
        let is_usage = error.kind() == NodeErrorKind::Contradiction;
        if is_usage { Self::usage(error) } else { Self::caused_by(&error) }
    }
}

impl From<OperatorError> for CommandError {
    fn from(error: OperatorError) -> Self {
        Self::caused_by(&error)
    }
}

impl From<ShellError> for CommandError {
    fn from(error: ShellError) -> Self {
        Self::caused_by(&error)
    }
}

impl From<ReceiverError> for CommandError {
    fn from(error: ReceiverError) -> Self {
        match error {
            ReceiverError::ForwardsToItself => {
                Self::usage("--forward-to is the address that this command listens on")
            }
            ReceiverError::ForwardsElsewhere(_) => Self::usage(format!("--forward-to: {error}")),
            other => Self::caused_by(&other),
        }
    }
}

impl fmt::Display for CommandError {
    /// Writes the message. Escapes control characters, because the message may quote a text of another party.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&escape_control(&self.message))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_of_a_service_cannot_control_the_terminal() {
        let fault = CommandError::new("failed: \u{1b}[31mred\u{202e}");
        assert_eq!(fault.to_string(), "failed: \\u{1b}[31mred\\u{202e}");
    }
}
