//! Prints the result of an operator command as text or JSON. As JSON, a page of a list is one object per line, and any
//! other result is one object.

use sealpost_receiver::escape_control;
use sealpost_service::ListPage;
use serde::Serialize;
use serde_json::Value;

use crate::{fault::Fault, terminal::print};

/// Selects text or JSON as the format of the output.
#[derive(Debug, Clone, Copy)]
pub(super) struct Output {
    pub(super) json: bool,
}

impl Output {
    /// Prints the fields of a result, one per line.
    pub(super) fn show(self, result: &impl Serialize) -> Result<(), Fault> {
        self.show_as(result, lines)
    }

    /// Prints a result. The function `text` formats it if the output is not JSON.
    pub(super) fn show_as(
        self,
        result: &impl Serialize,
        text: impl FnOnce(&Value) -> String,
    ) -> Result<(), Fault> {
        let printed = if self.json {
            serde_json::to_string(result).map(|object| format!("{object}\n"))
        } else {
            serde_json::to_value(result).map(|value| text(&value))
        };
        print(&printed.map_err(unserialisable)?)
    }

    /// Prints one line per entry: the named fields as text, or the whole entry as JSON. If another page follows, text
    /// output ends with a hint that contains the cursor, which is the first field of the last entry.
    pub(super) fn list<T: Serialize>(
        self,
        page: &ListPage<T>,
        columns: &[&str],
    ) -> Result<(), Fault> {
        let entries = page.entries.iter().map(serde_json::to_value);
        let entries: Vec<Value> = entries.collect::<Result<_, _>>().map_err(unserialisable)?;
        let line = |entry: &Value| if self.json { entry.to_string() } else { row(entry, columns) };
        let mut lines: Vec<String> = entries.iter().map(line).collect();
        let last = entries.last().zip(columns.first());
        if let Some((last, id)) = last.filter(|_| page.more && !self.json) {
            let cursor = last.get(id).map(plain).unwrap_or_default();
            lines.push(format!("for the next page, add --cursor {cursor}"));
        }
        let end = if lines.is_empty() { "" } else { "\n" };
        print(format!("{}{end}", lines.join("\n")))
    }
}

/// Returns the named fields of an entry as one line of text.
pub(super) fn row(entry: &Value, columns: &[&str]) -> String {
    let fields = columns.iter().map(|name| entry.get(name).map(plain).unwrap_or_default());
    fields.collect::<Vec<_>>().join("  ")
}

fn unserialisable(error: serde_json::Error) -> Fault {
    Fault::caused("the result cannot be serialised", error)
}

pub(super) fn lines(value: &Value) -> String {
    let fields = value.as_object().into_iter().flatten();
    let line = |(name, value): (&String, &Value)| format!("{name:<14}  {}\n", plain(value));
    fields.map(line).collect::<Vec<_>>().concat()
}

/// Returns a JSON value as one line of text. Control characters are escaped, because labels and reasons are user input.
pub(super) fn plain(value: &Value) -> String {
    match value {
        Value::Null => "-".to_owned(),
        Value::String(text) => escape_control(text),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn user_input_stays_on_its_line() {
        let shown = lines(&json!({"label": "a\nstatus active\u{1b}[2J\u{202e}", "handle": null}));
        assert_eq!(shown.lines().count(), 2);
        assert!(
            shown.contains("\\u{a}") && shown.contains("\\u{1b}") && shown.contains("\\u{202e}")
        );
        assert!(shown.contains("handle          -\n"));
    }
}
