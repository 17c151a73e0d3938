//! How the command line fails: one line on standard error that says what to do.

use std::{error::Error, fmt, io::Write as _, process::ExitCode};

use clap::error::{ContextKind, ContextValue};
use sealpost_node::NodeError;

/// A failure of a command.
#[derive(Debug)]
pub(crate) struct Fault {
    message: String,
    status: u8,
}

impl Fault {
    /// A failure that needs no other explanation.
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), status: FAILED }
    }

    /// A failure whose cause is worth showing.
    pub(crate) fn caused(
        message: impl Into<String>,
        source: impl Into<Box<dyn Error + Send + Sync>>,
    ) -> Self {
        Self::new(format!("{}: {}", message.into(), chain(&*source.into())))
    }

    /// An error that says itself what to do, with every cause.
    pub(crate) fn of(error: &dyn Error) -> Self {
        Self::new(chain(error))
    }

    /// A command that cannot mean anything.
    pub(crate) fn usage(message: impl fmt::Display) -> Self {
        Self { message: format!("{message}; see sealpost --help"), status: WRONG_USAGE }
    }

    /// Says it on standard error, in one line.
    pub(crate) fn report(&self) -> ExitCode {
        // Where standard error is closed there is nobody left to tell; the exit status still says it.
        drop(std::io::stderr().write_all(format!("sealpost: {self}\n").as_bytes()));
        ExitCode::from(self.status)
    }
}

impl From<NodeError> for Fault {
    fn from(error: NodeError) -> Self {
        match error {
            NodeError::Contradiction(failure) => Self::usage(failure),
            other => Self::of(&other),
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

/// An error and its causes, in one line.
fn chain(error: &dyn Error) -> String {
    let mut line = error.to_string().trim().replace('\n', " ");
    let mut cause = error.source();
    while let Some(error) = cause {
        line.push_str(": ");
        line.push_str(&error.to_string().trim().replace('\n', " "));
        cause = error.source();
    }
    line
}

/// Wrong usage in one line, with exit status 2; help and version as they are asked for.
pub(crate) fn report_usage(error: &clap::Error) -> ExitCode {
    if !error.use_stderr() {
        error.exit();
    }
    let mut text = error.to_string();
    if let (Some(ContextValue::String(argument)), Some(ContextValue::String(value))) =
        (error.get(ContextKind::InvalidArg), error.get(ContextKind::InvalidValue))
        && argument.starts_with("--database-url")
    {
        // It may hold a password, and this ends in somebody's journal.
        text = text.replace(&format!(" '{value}'"), "");
    }
    let said: Vec<&str> = text
        .lines()
        .map(str::trim)
        .take_while(|line| !line.is_empty() && !line.starts_with("Usage:"))
        .collect();
    let said = said.join(" ");
    let said = said.strip_prefix("error: ").unwrap_or(&said);
    let line = format!("sealpost: {said}; see sealpost --help\n");
    drop(std::io::stderr().write_all(line.as_bytes()));
    ExitCode::from(WRONG_USAGE)
}

const FAILED: u8 = 1;
const WRONG_USAGE: u8 = 2;
