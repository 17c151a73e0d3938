//! Descriptions: notes of owners about their webhooks.

use std::fmt;

use schemars::JsonSchema;
use serde::Serialize;

/// A note of 1 to 200 characters without control characters. Escape it before display, because the owner chose the
/// text.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize)]
#[serde(transparent)]
#[schemars(extend(
    "minLength" = 1,
    "maxLength" = 200,
    "pattern" = "^[^\\u0000-\\u001f\\u007f-\\u009f]*$"
))]
pub struct Description(String);

/// The reason why a text is not a valid description.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum DescriptionFault {
    /// The text contains a control character.
    #[error("must not contain control characters")]
    ControlCharacter,
    /// The text is longer than 200 characters.
    #[error("must have at most 200 characters")]
    Length,
}

impl Description {
    /// Parses a description. An empty text is no description.
    pub fn parse(text: &str) -> Result<Option<Self>, DescriptionFault> {
        if text.chars().count() > 200 {
            return Err(DescriptionFault::Length);
        }
        if text.chars().any(char::is_control) {
            return Err(DescriptionFault::ControlCharacter);
        }
        Ok((!text.is_empty()).then(|| Self(text.to_owned())))
    }

    /// Returns the description as text, not escaped.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Description {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn length_counts_characters_and_an_empty_text_is_no_description() {
        assert!(Description::parse(&"ü".repeat(200)).unwrap().is_some());
        assert_eq!(Description::parse(&"ü".repeat(201)), Err(DescriptionFault::Length));
        assert_eq!(Description::parse("a\0b"), Err(DescriptionFault::ControlCharacter));
        assert_eq!(Description::parse(""), Ok(None));
    }
}
