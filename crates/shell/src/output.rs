//! Prints results, as text or as JSON.

use std::io::{self, IsTerminal as _, Write as _};

use sealpost_domain::with_causes;
use sealpost_receiver::{escape_control, escape_json};
use serde::Serialize;
use serde_json::Value;

use crate::{error::ShellError, table::table};

/// Prints a result: as JSON, or one member per line.
pub(crate) fn result(value: &impl Serialize, json: bool) -> Result<(), ShellError> {
    if json {
        let text = serde_json::to_string_pretty(value).map_err(|error| invalid(&error))?;
        return line(&escape_json(&text));
    }
    let value = serde_json::to_value(value).map_err(|error| invalid(&error))?;
    line(members(&value, "").trim_end())
}

/// Prints a list, one entry per line: as JSON objects, or as the cells of each entry. On a terminal, the cells have a
/// header.
pub(crate) fn list<T: Serialize, const N: usize>(
    entries: &[T],
    json: bool,
    columns: [&str; N],
    cells: impl Fn(&T) -> [String; N],
) -> Result<(), ShellError> {
    if json {
        let objects = entries.iter().map(|entry| Ok(serde_json::to_string(entry)? + "\n"));
        let text = objects.collect::<Result<String, _>>().map_err(|error| invalid(&error))?;
        return tolerate_closed_pipe(print(escape_json(&text))).map_err(ShellError::Output);
    }
    let rows: Vec<_> = entries.iter().map(|entry| cells(entry).to_vec()).collect();
    let text = table(&columns, &rows, " ");
    tolerate_closed_pipe(print(text)).map_err(ShellError::Output)
}

fn invalid(error: &serde_json::Error) -> ShellError {
    ShellError::Invalid(error.to_string())
}

/// Prints a line.
pub(crate) fn line(text: &str) -> Result<(), ShellError> {
    tolerate_closed_pipe(print(format!("{text}\n"))).map_err(ShellError::Output)
}

/// Prints a warning on standard error, for an error that does not make the command fail. `effect` describes the
/// consequence of the error.
pub(crate) fn warn(effect: &str, error: &ShellError) {
    let error = escape_control(&with_causes(error));
    // Ignores an error, because there is no other output to report it on.
    drop(io::stderr().write_all(format!("sealpost: {effect}: {error}\n").as_bytes()));
}

/// Writes a text to standard output at once.
pub fn print(text: impl AsRef<[u8]>) -> io::Result<()> {
    let mut out = io::stdout();
    out.write_all(text.as_ref()).and_then(|()| out.flush())
}

/// Converts the error of a closed pipe to success. The program that reads the output, such as `head`, closes the pipe
/// when it has read enough.
pub fn tolerate_closed_pipe(printed: io::Result<()>) -> io::Result<()> {
    match printed {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        printed => printed,
    }
}

/// Prints a message. On a terminal, escapes characters that control the terminal.
pub(crate) fn message(text: &str) -> Result<(), ShellError> {
    if !io::stdout().is_terminal() {
        return line(text);
    }
    text.split('\n').try_for_each(|part| line(&escape_control(part)))
}

/// Returns one line for each member of a JSON value. The name of a nested member follows the names of its parents,
/// separated by dots.
fn members(value: &Value, path: &str) -> String {
    match value {
        Value::Object(inner) => {
            let dot = if path.is_empty() { "" } else { "." };
            inner
                .iter()
                .map(|(name, value)| members(value, &format!("{path}{dot}{name}")))
                .collect()
        }
        Value::Null => String::new(),
        Value::String(text) => format!("{path}: {}\n", escape_control(text)),
        other => format!("{path}: {}\n", escape_control(&other.to_string())),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn inner_members_have_dotted_names_and_controls_are_escaped() {
        let value = json!({"day": {"used": 1}, "handle": null, "label": "\u{1b}[31m"});
        assert_eq!(members(&value, ""), "day.used: 1\nlabel: \\u{1b}[31m\n");
    }
}
