//! Prints the result of an operator command as text or JSON. As JSON, a page of a list is one object per line, and any
//! other result is one object.

use sealpost_receiver::{escape_control, escape_json};
use sealpost_service::ListPage;
use serde::Serialize;
use serde_json::Value;

use crate::{command_error::CommandError, terminal::print};

/// Selects text or JSON as the format of the output.
#[derive(Debug, Clone, Copy)]
pub(super) struct Output {
    pub(super) json: bool,
}

impl Output {
    /// Prints the fields of a result, one per line.
    pub(super) fn show(self, result: &impl Serialize) -> Result<(), CommandError> {
        self.show_as(result, lines)
    }

    /// Prints a result. The function `text` formats the result if the output is not JSON.
    pub(super) fn show_as(
        self,
        result: &impl Serialize,
        text: impl FnOnce(&Value) -> String,
    ) -> Result<(), CommandError> {
        let printed = if self.json {
            serde_json::to_string(result).map(|object| format!("{}\n", escape_json(&object)))
        } else {
            serde_json::to_value(result).map(|value| text(&value))
        };
        print(&printed.map_err(unserialisable)?)
    }

    /// Prints one line per entry: the fields of `columns` as text, or the whole entry as JSON. If another page follows,
    /// text output ends with a hint that contains the cursor for the next page. The cursor is the first field of the
    /// last entry.
    pub(super) fn list<T: Serialize>(
        self,
        page: &ListPage<T>,
        columns: &[&str],
    ) -> Result<(), CommandError> {
        let entries = page.entries.iter().map(serde_json::to_value);
        let entries: Vec<Value> = entries.collect::<Result<_, _>>().map_err(unserialisable)?;
        if self.json {
            let lines: Vec<_> = entries.iter().map(|entry| format!("{entry}\n")).collect();
            return print(escape_json(&lines.concat()));
        }
        let mut text = table(&entries, columns);
        let last = entries.last().zip(columns.first());
        if let Some((last, id)) = last.filter(|_| page.more) {
            text = format!("{text}for the next page, add --cursor {}\n", field(last, id));
        }
        print(text)
    }
}

/// Returns the named fields of each entry as text, one entry per line.
pub(super) fn table(entries: &[Value], columns: &[&str]) -> String {
    let rows: Vec<_> = entries.iter().map(|entry| cells(entry, columns)).collect();
    sealpost_shell::table(columns, &rows, "  ")
}

/// Returns the named fields of an entry as one line of text.
pub(super) fn row(entry: &Value, columns: &[&str]) -> String {
    cells(entry, columns).join("  ")
}

fn cells(entry: &Value, columns: &[&str]) -> Vec<String> {
    columns.iter().map(|name| field(entry, name)).collect()
}

/// Returns the named field of an entry as text. Returns an empty text if the entry does not have the field.
pub(super) fn field(entry: &Value, name: &str) -> String {
    entry.get(name).map(plain).unwrap_or_default()
}

fn unserialisable(error: serde_json::Error) -> CommandError {
    CommandError::caused("the result cannot be serialised", error)
}

/// Returns the fields of a result, one per line. A list of objects has one line for each object.
pub(super) fn lines(value: &Value) -> String {
    let fields: Vec<_> = value.as_object().into_iter().flatten().collect();
    let widths = fields.iter().map(|(name, _)| name.len());
    let width = widths.max().unwrap_or_default().max(NAME_WIDTH_MIN);
    let line = |(name, value): &(&String, &Value)| {
        let values = match value {
            Value::Array(entries) if entries.iter().any(Value::is_object) => &entries[..],
            single => std::slice::from_ref(*single),
        };
        let line = |value| format!("{name:<width$}  {}\n", plain(value));
        values.iter().map(line).collect::<String>()
    };
    fields.iter().map(line).collect()
}

/// Returns a JSON value as one line of text. Control characters are escaped, because labels and reasons are user input.
fn plain(value: &Value) -> String {
    let text = match value {
        Value::Null => String::new(),
        Value::String(text) => escape_control(text),
        Value::Array(entries) => entries.iter().map(plain).collect::<Vec<_>>().join(","),
        Value::Object(fields) => {
            let field = |(name, value): (&String, &Value)| format!("{name} {}", plain(value));
            fields.iter().map(field).collect::<Vec<_>>().join(", ")
        }
        Value::Bool(_) | Value::Number(_) => value.to_string(),
    };
    if text.is_empty() { "-".to_owned() } else { text }
}

const NAME_WIDTH_MIN: usize = 14;

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn text_contains_no_json() {
        let shown = lines(&json!({
            "keys": {"active": 1, "revoked": 2},
            "scopes": ["read", "send"],
            "webhooks": {},
            "failing_webhooks": [],
            "nodes": [{"base_url": null, "host": "a"}, {"base_url": "http://b", "host": "b"}],
        }));
        let expected = "\
            failing_webhooks  -\n\
            keys              active 1, revoked 2\n\
            nodes             base_url -, host a\n\
            nodes             base_url http://b, host b\n\
            scopes            read,send\n\
            webhooks          -\n";
        let mut sorted: Vec<_> = shown.lines().collect();
        sorted.sort_unstable();
        assert_eq!(format!("{}\n", sorted.join("\n")), expected);
    }

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
