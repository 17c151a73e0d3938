//! Labels: display names of API keys, chosen by their owners.

use std::fmt;

use schemars::JsonSchema;
use serde::Serialize;

/// A display name of 1 to 100 characters without control characters. Escape it before display, because the owner chose
/// the text.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize)]
#[serde(transparent)]
#[schemars(extend(
    "minLength" = 1,
    "maxLength" = 100,
    "pattern" = "^[^\\u0000-\\u001f\\u007f-\\u009f]*$"
))]
pub struct Label(String);

/// The reason why a text is not a valid label.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum LabelFault {
    /// The text contains a control character.
    #[error("must not contain control characters")]
    ControlCharacter,
    /// The text is empty, or longer than 100 characters.
    #[error("must have 1 to 100 characters")]
    Length,
}

impl Label {
    /// Parses a label. Accepts any text of valid length without control characters.
    pub fn parse(text: &str) -> Result<Self, LabelFault> {
        if !(1..=100).contains(&text.chars().count()) {
            return Err(LabelFault::Length);
        }
        if text.chars().any(char::is_control) {
            return Err(LabelFault::ControlCharacter);
        }
        Ok(Self(text.to_owned()))
    }

    /// Returns the label as text, not escaped.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn length_counts_characters_not_bytes() {
        assert!(Label::parse(&"ü".repeat(100)).is_ok());
        assert_eq!(Label::parse(&"ü".repeat(101)), Err(LabelFault::Length));
        assert_eq!(Label::parse(""), Err(LabelFault::Length));
        assert_eq!(Label::parse("a\nb"), Err(LabelFault::ControlCharacter));
    }
}
