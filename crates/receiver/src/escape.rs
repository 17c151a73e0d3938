//! Makes the text of a received request safe for terminals and logs.

use std::fmt::Write as _;

/// Escapes control characters, characters that change the direction of text, and the Unicode separators of lines and
/// paragraphs. In a terminal, these characters could hide or imitate text. For example, the escape character becomes
/// the six characters `\u{1b}`.
pub fn escape_control(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for symbol in text.chars() {
        if symbol.is_control() || is_reordering(symbol) {
            escaped.extend(symbol.escape_unicode());
        } else {
            escaped.push(symbol);
        }
    }
    escaped
}

/// Escapes the same characters as [`escape_control`] in a JSON text, but keeps the JSON value. For example, U+202E
/// becomes the six characters `\u202e`. Line feeds stay: in JSON they occur only between tokens, never inside a string.
pub fn escape_json(json: &str) -> String {
    let mut escaped = String::with_capacity(json.len());
    for symbol in json.chars() {
        if symbol != '\n' && (symbol.is_control() || is_reordering(symbol)) {
            // All these characters are below U+10000.
            write!(escaped, "\\u{:04x}", u32::from(symbol)).ok();
        } else {
            escaped.push(symbol);
        }
    }
    escaped
}

/// Whether a character changes the direction of the text around it, or starts a new line. The service rejects the same
/// characters in new labels.
fn is_reordering(symbol: char) -> bool {
    matches!(
        symbol,
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deceiving_characters_are_escaped() {
        let deceiving =
            "\u{1b}\u{61c}\u{200e}\u{200f}\u{2028}\u{2029}\u{202a}\u{202e}\u{2066}\u{2069}";
        for symbol in deceiving.chars() {
            assert_eq!(escape_control(&symbol.to_string()), symbol.escape_unicode().to_string());
        }
        assert_eq!(escape_control("Grüße, שלום\u{200d}"), "Grüße, שלום\u{200d}");
    }

    #[test]
    fn escaped_json_has_the_same_value() {
        let value = serde_json::json!({"message": "\u{1b}\u{9b}2J\u{7f}\u{202e}\n\"ü\""});
        let escaped = escape_json(&serde_json::to_string_pretty(&value).unwrap());
        let expected = "{\n  \"message\": \"\\u001b\\u009b2J\\u007f\\u202e\\n\\\"ü\\\"\"\n}";
        assert_eq!(escaped, expected);
        assert_eq!(serde_json::from_str::<serde_json::Value>(&escaped).unwrap(), value);
    }
}
