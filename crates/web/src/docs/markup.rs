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
            write!(html, "<code>{}</code>", with_flags(&part)).unwrap_or_default();
        }
    }
    html
}

/// Marks the flags of a command, such as `--events`. Browsers would otherwise break the line after their hyphens.
fn with_flags(code: &str) -> String {
    let is_flag = |word: &str| word.starts_with("--") && word.len() <= FLAG_LENGTH;
    let marked = |word: &str| {
        if is_flag(word) { format!("<span class=\"flag\">{word}</span>") } else { word.to_owned() }
    };
    code.split(' ').map(marked).collect::<Vec<_>>().join(" ")
}

/// Maximum length in bytes of a flag that is kept in one line. A longer flag may not fit.
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
        let flag = "<code>serve <span class=\"flag\">--dev</span> x</code>";
        assert_eq!(html("`serve --dev x`"), flag);
    }

    #[test]
    fn paragraphs_and_lists_are_kept_and_html_is_escaped() {
        assert_eq!(
            blocks("Send `to`, <b>.\n\n- One.\n- Two."),
            "<p>Send <code>to</code>, &lt;b&gt;.</p>\n<ul>\n<li>One.</li>\n<li>Two.</li>\n</ul>\n"
        );
    }
}
