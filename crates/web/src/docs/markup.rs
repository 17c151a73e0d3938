//! Plain sentences as HTML: what stands between backticks is code, and nothing else means anything.

use std::fmt::Write as _;

/// The text, escaped and marked up.
pub(super) fn html(text: &str) -> String {
    let mut html = String::with_capacity(text.len());
    for (place, part) in text.split('`').enumerate() {
        let part = escaped(part);
        // Every other part stands between backticks.
        if place % 2 == 0 {
            html.push_str(&part);
        } else {
            // Writing into memory does not fail.
            write!(html, "<code>{part}</code>").unwrap_or_default();
        }
    }
    html
}

fn escaped(text: &str) -> String {
    let mut html = String::with_capacity(text.len());
    for symbol in text.chars() {
        match symbol {
            '&' => html.push_str("&amp;"),
            '<' => html.push_str("&lt;"),
            '>' => html.push_str("&gt;"),
            '"' => html.push_str("&quot;"),
            '\'' => html.push_str("&#39;"),
            plain => html.push(plain),
        }
    }
    html
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn backticks_make_code_and_markup_makes_nothing() {
        assert_eq!(
            html("send `to`, <b>\"x\"</b>"),
            "send <code>to</code>, &lt;b&gt;&quot;x&quot;&lt;/b&gt;"
        );
        assert_eq!(html("`<i>`"), "<code>&lt;i&gt;</code>");
    }
}
