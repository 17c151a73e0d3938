//! What a command prints: lines for people, or exactly one JSON object.

use std::io::Write as _;

use sealpost_receiver::escape_control;
use serde::Serialize;
use serde_json::Value;

use crate::fault::Fault;

/// How to print.
#[derive(Debug, Clone, Copy)]
pub(super) struct Output {
    pub(super) json: bool,
}

impl Output {
    /// The fields of what was done, one a line.
    pub(super) fn show(self, done: &impl Serialize) -> Result<(), Fault> {
        self.show_as(done, lines)
    }

    /// The same with words of one's own for people.
    pub(super) fn show_as(
        self,
        done: &impl Serialize,
        words: impl FnOnce(&Value) -> String,
    ) -> Result<(), Fault> {
        let text = if self.json {
            serde_json::to_string(done).map(|object| format!("{object}\n"))
        } else {
            serde_json::to_value(done).map(|value| words(&value))
        };
        let text = text.map_err(|error| Fault::caused("this cannot be written down", error))?;
        let mut out = std::io::stdout();
        out.write_all(text.as_bytes())
            .and_then(|()| out.flush())
            .map_err(|error| Fault::caused("standard output is closed", error))
    }
}

fn lines(value: &Value) -> String {
    let fields = value.as_object().into_iter().flatten();
    let line = |(name, value): (&String, &Value)| format!("{name:<14}  {}\n", plain(value));
    fields.map(line).collect::<Vec<_>>().concat()
}

/// One line, whatever is in it: labels and reasons are other people's text.
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
    fn other_peoples_text_stays_on_its_line() {
        let shown = lines(&json!({"label": "a\nstatus active\u{1b}[2J\u{202e}", "handle": null}));
        assert_eq!(shown.lines().count(), 2);
        assert!(
            shown.contains("\\u{a}") && shown.contains("\\u{1b}") && shown.contains("\\u{202e}")
        );
        assert!(shown.contains("handle          -\n"));
    }
}
