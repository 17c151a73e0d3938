//! Other people's text in front of people.

/// Other people's text as it may be shown: control characters, which could deceive whoever reads a terminal, are escaped.
pub fn visible(text: &str) -> String {
    text.chars().flat_map(visible_symbol).collect()
}

fn visible_symbol(symbol: char) -> Vec<char> {
    if symbol.is_control() || is_direction(symbol) {
        symbol.escape_unicode().collect()
    } else {
        vec![symbol]
    }
}

/// Marks that change the direction in which text runs.
fn is_direction(symbol: char) -> bool {
    matches!(symbol, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}
