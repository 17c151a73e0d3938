//! Replaces the example addresses in a guide by the address of the service.

use pulldown_cmark::{CowStr, Event, HeadingLevel, Tag};

/// Replaces the example addresses in texts, code and links by `base_url`. Leaves sections about a server on the
/// reader's machine unchanged. They are recognised by their headings, whose texts are in `titles`.
pub(super) fn replace<'a>(
    events: impl Iterator<Item = Event<'a>>,
    titles: &[&str],
    base_url: &str,
) -> Vec<Event<'a>> {
    let mut titles = titles.iter();
    // The level of the heading of the current section about a server on the reader's machine. `None` in other sections.
    let mut local_level: Option<HeadingLevel> = None;
    let mut all = Vec::new();
    for event in events {
        if let Event::Start(Tag::Heading { level, .. }) = event {
            let title = titles.next().map(|title| title.to_lowercase());
            let is_local = title.is_some_and(|title| title.contains(LOCAL));
            local_level = local_level.filter(|local| *local < level).or(is_local.then_some(level));
        }
        all.push(if local_level.is_some() { event } else { with_address(event, base_url) });
    }
    all
}

fn with_address<'a>(event: Event<'a>, base_url: &str) -> Event<'a> {
    let replaced = |text: CowStr<'a>| -> CowStr<'a> {
        let found = ADDRESSES.iter().any(|address| text.contains(address));
        let replace = |text: String, address: &&str| text.replace(address, base_url);
        if found { ADDRESSES.iter().fold(text.to_string(), replace).into() } else { text }
    };
    match event {
        Event::Text(text) => Event::Text(replaced(text)),
        Event::Code(text) => Event::Code(replaced(text)),
        Event::Start(Tag::Link { link_type, dest_url, title, id }) => {
            Event::Start(Tag::Link { link_type, dest_url: replaced(dest_url), title, id })
        }
        other => other,
    }
}

/// The addresses of a service in the guides.
const ADDRESSES: [&str; 2] = ["http://127.0.0.1:8080", "https://sealpost.example"];
/// Part of the headings of sections about a server on the reader's machine, in lower case.
const LOCAL: &str = "on your machine";

#[cfg(test)]
mod tests {
    use pulldown_cmark::{Parser, html};

    use super::*;

    #[test]
    fn addresses_of_sections_on_your_machine_stay() {
        let guide = "# Page\n`http://127.0.0.1:8080`\n## Start on your machine\n`http://127.0.0.1:8080/a`\n\
                     ### More\n`http://127.0.0.1:8080/b`\n## Use\n<http://127.0.0.1:8080/c>\n";
        let titles = ["Page", "Start on your machine", "More", "Use"];
        let events = replace(Parser::new(guide), &titles, "https://seal.example.org");
        let mut rendered = String::new();
        html::push_html(&mut rendered, events.into_iter());
        for kept in ["<code>http://127.0.0.1:8080/a</code>", "<code>http://127.0.0.1:8080/b</code>"]
        {
            assert!(rendered.contains(kept), "{rendered}");
        }
        let link = "<a href=\"https://seal.example.org/c\">https://seal.example.org/c</a>";
        assert!(rendered.contains(link), "{rendered}");
        assert_eq!(rendered.matches("127.0.0.1:8080").count(), 2, "{rendered}");
    }
}
