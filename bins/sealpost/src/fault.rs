//! How the command line fails: one line on standard error that says what to do.

use std::{error::Error, io::Write as _, process::ExitCode};

/// A failure of a command.
#[derive(Debug)]
pub(crate) struct Fault {
    message: String,
    source: Option<Box<dyn Error + Send + Sync>>,
}

impl Fault {
    /// A failure that needs no other explanation.
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), source: None }
    }

    /// A failure whose cause is worth showing.
    pub(crate) fn caused(
        message: impl Into<String>,
        source: impl Into<Box<dyn Error + Send + Sync>>,
    ) -> Self {
        Self { message: message.into(), source: Some(source.into()) }
    }

    /// Says it on standard error, in one line with every cause.
    pub(crate) fn report(&self) -> ExitCode {
        let mut line = format!("sealpost: {}", self.message);
        let mut cause = self.source.as_deref().map(|source| -> &dyn Error { source });
        while let Some(error) = cause {
            line.push_str(": ");
            line.push_str(&error.to_string().trim().replace('\n', " "));
            cause = error.source();
        }
        line.push('\n');
        // Where standard error is closed there is nobody left to tell; the exit status still says it.
        drop(std::io::stderr().write_all(line.as_bytes()));
        ExitCode::FAILURE
    }
}

/// Wrong usage in one line, with exit status 2; help and version as they are asked for.
pub(crate) fn report_usage(error: &clap::Error) -> ExitCode {
    if !error.use_stderr() {
        error.exit();
    }
    let text = error.to_string();
    let said: Vec<&str> = text
        .lines()
        .map(str::trim)
        .take_while(|line| !line.is_empty() && !line.starts_with("Usage:"))
        .collect();
    let said = said.join(" ");
    let said = said.strip_prefix("error: ").unwrap_or(&said);
    let line = format!("sealpost: {said}; see sealpost --help\n");
    drop(std::io::stderr().write_all(line.as_bytes()));
    ExitCode::from(2)
}
