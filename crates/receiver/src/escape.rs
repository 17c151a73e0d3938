//! Makes the text of a received request safe for terminals and logs.

/// Escapes control characters, and characters that change the direction of text. Both could deceive a person who reads
/// the text in a terminal. For example, the escape character becomes the six characters `\u{1b}`.
pub fn escape_control(text: &str) -> String {
    text.chars().flat_map(escape_symbol).collect()
}

fn escape_symbol(symbol: char) -> Vec<char> {
    if symbol.is_control() || is_direction_mark(symbol) {
        symbol.escape_unicode().collect()
    } else {
        vec![symbol]
    }
}

/// Whether a character changes the direction of text.
fn is_direction_mark(symbol: char) -> bool {
    matches!(symbol, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}
