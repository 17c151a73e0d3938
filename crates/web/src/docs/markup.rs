//! Converts the descriptions in the OpenAPI document to HTML.

use std::fmt::Write as _;

use pulldown_cmark::{Event, Parser, html as markdown};

/// Renders a text of several paragraphs and lists (Markdown) as HTML. Escapes HTML in the text.
pub(super) fn blocks(text: &str) -> String {
    let events = Parser::new(text).map(|event| match event {
        Event::Html(text) | Event::InlineHtml(text) => Event::Text(text),
        event => event,
    });
    let mut html = String::new();
    markdown::push_html(&mut html, events);
    html
}

/// Escapes a text as HTML, and marks text between backticks as code.
pub(super) fn html(text: &str) -> String {
    let mut html = String::with_capacity(text.len());
    for (index, part) in text.split('`').enumerate() {
        let part = escaped(part);
        // The text is split at backticks, so parts with an odd index were between backticks.
        if index % 2 == 0 {
            html.push_str(&part);
        } else {
            // Writing to a string cannot fail.
            write!(html, "<code{}>{part}</code>", class_of(&part)).unwrap_or_default();
        }
    }
    html
}

/// Returns the attribute of a flag, such as `--events v1.1`. Browsers would otherwise break its line after a hyphen.
pub(super) fn class_of(code: &str) -> &'static str {
    if code.starts_with("--") && code.len() <= FLAG_LENGTH { " class=\"flag\"" } else { "" }
}

/// Maximum length of a text that always fits into a line.
const FLAG_LENGTH: usize = 32;

/// Escapes a text as HTML.
pub(super) fn escaped(text: &str) -> String {
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
    fn backticks_become_code_and_other_markup_is_escaped() {
        assert_eq!(
            html("send `to`, <b>\"x\"</b>"),
            "send <code>to</code>, &lt;b&gt;&quot;x&quot;&lt;/b&gt;"
        );
        assert_eq!(html("`<i>`"), "<code>&lt;i&gt;</code>");
        assert_eq!(html("`--dev`"), "<code class=\"flag\">--dev</code>");
    }

    #[test]
    fn paragraphs_and_lists_are_kept_and_html_is_escaped() {
        assert_eq!(
            blocks("Send `to`, <b>.\n\n- One.\n- Two."),
            "<p>Send <code>to</code>, &lt;b&gt;.</p>\n<ul>\n<li>One.</li>\n<li>Two.</li>\n</ul>\n"
        );
    }
}
