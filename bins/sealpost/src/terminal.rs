//! The output of commands, the permission to use colours, a progress line, and secrets from standard input.

use std::io::{self, BufRead as _, IsTerminal as _, Read as _, Write as _};

use sealpost_receiver::escape_json;
use sealpost_shell::tolerate_closed_pipe;
use serde::Serialize;
use zeroize::Zeroizing;

use crate::command_error::CommandError;

/// Returns true if the environment allows colours. See <https://no-color.org>.
#[expect(clippy::disallowed_methods, reason = "the binary reads the environment for all crates")]
pub(crate) fn allows_colour() -> bool {
    let is_dumb = std::env::var("TERM").is_ok_and(|terminal| terminal == "dumb");
    std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty()) && !is_dumb
}

/// Prints the output of a command. A closed pipe is no error.
pub(crate) fn print(text: impl AsRef<[u8]>) -> Result<(), CommandError> {
    tolerate_closed_pipe(sealpost_shell::print(text)).map_err(CommandError::output)
}

/// Prints a report as one JSON object, or as the text that the function `text` returns.
pub(crate) fn print_report<R: Serialize>(
    report: &R,
    text: fn(&R) -> String,
    as_json: bool,
) -> Result<(), CommandError> {
    if !as_json {
        return print(text(report));
    }
    let object = serde_json::to_string(report);
    let object =
        object.map_err(|error| CommandError::caused("the report cannot be serialised", error))?;
    print(format!("{}\n", escape_json(&object)))
}

/// Reads a line of at most `length_max` bytes from standard input, with its line end. `what` names the secret in the
/// error.
pub(crate) fn read_secret_line(
    what: &str,
    length_max: usize,
) -> Result<Zeroizing<String>, CommandError> {
    // Reserves the full capacity at once, because a reallocation would leave a copy of the secret in memory.
    let mut line = Zeroizing::new(String::with_capacity(length_max));
    let limit = u64::try_from(length_max).unwrap_or(u64::MAX);
    let read = io::stdin().lock().take(limit).read_line(&mut line);
    read.map_err(|error| {
        CommandError::caused(format!("{what} cannot be read from standard input"), error)
    })?;
    Ok(line)
}

/// A progress line on standard error. Shown only on a terminal, and erased when this value is dropped.
pub(crate) struct Progress {
    is_terminal: bool,
}

impl Progress {
    pub(crate) fn start() -> Self {
        Self { is_terminal: io::stderr().is_terminal() }
    }

    /// Replaces the text of the progress line.
    pub(crate) fn show(&self, text: &str) {
        if self.is_terminal {
            // An error is ignored, because the work continues without a progress line.
            drop(write!(io::stderr(), "{ERASE}sealpost: {text}"));
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if self.is_terminal {
            drop(write!(io::stderr(), "{ERASE}"));
        }
    }
}

/// Terminal codes that move the cursor to the start of the line and erase the line.
const ERASE: &str = "\r\u{1b}[K";
