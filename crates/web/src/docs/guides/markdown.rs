//! Converts the Markdown of a guide to HTML.
//!
//! Drops HTML in the Markdown. The only HTML in the guides are comments, which name the file or the purpose of the code
//! block below. Guides are compiled into the binary, so no user can add text to them.

use std::collections::HashMap;

use pulldown_cmark::{CowStr, Event, HeadingLevel, Options, Parser, Tag, TagEnd, html};

use super::{Guide, addresses, code_blocks, links, tables};
use crate::{docs::markup, html::SiteAddress};

/// A guide as HTML.
pub(super) struct RenderedGuide {
    pub(super) html: String,
    pub(super) headings: Vec<Heading>,
}

/// A heading of a guide.
pub(crate) struct Heading {
    pub(crate) level: HeadingLevel,
    pub(crate) id: String,
    pub(crate) text: String,
    /// The beginning of the text below the heading, without code blocks.
    pub(crate) excerpt: String,
}

/// Renders a guide for the service at `site`. The links and commands of the guide get the address of this service.
pub(super) fn render(guide: &Guide, site: &SiteAddress) -> RenderedGuide {
    let headings = headings(guide.markdown);
    let base = &site.base_path;
    let mut ids = headings.iter();
    let mut events = Vec::new();
    let titles = headings.iter().map(|heading| heading.text.as_str()).collect::<Vec<_>>();
    for event in addresses::replace(parser(guide.markdown), &titles, &site.base_url) {
        match event {
            Event::Html(_)
            | Event::InlineHtml(_)
            | Event::Start(Tag::HtmlBlock)
            | Event::End(TagEnd::HtmlBlock) => {}
            Event::Start(Tag::Heading { level, .. }) => {
                let id = ids.next().map(|heading| heading.id.as_str()).unwrap_or_default();
                events.push(Event::Html(format!("<{level} id=\"{id}\">").into()));
            }
            Event::Start(Tag::Link { link_type, dest_url, title, id }) => {
                let dest_url = rewritten(guide, base, dest_url);
                events.push(Event::Start(Tag::Link { link_type, dest_url, title, id }));
            }
            Event::Start(Tag::Image { link_type, dest_url, title, id }) => {
                let dest_url = rewritten(guide, base, dest_url);
                events.push(Event::Html(narrow_picture(&dest_url).into()));
                events.push(Event::Start(Tag::Image { link_type, dest_url, title, id }));
            }
            Event::End(TagEnd::Image) => {
                events.extend([event, Event::Html("</picture>".into())]);
            }
            Event::Code(code) if code.contains("--") => {
                events.push(Event::Html(markup::html(&format!("`{code}`")).into()));
            }
            other => events.push(other),
        }
    }
    let mut html = String::with_capacity(guide.markdown.len() * 3 / 2);
    html::push_html(&mut html, code_blocks::render(tables::render(events)).into_iter());
    // In Markdown, a table without headings has a header row with empty cells. Renders these cells as ordinary cells.
    let html = html.replace("<th></th>", "<td></td>");
    RenderedGuide { html, headings }
}

/// Returns the address of a link or picture of a guide on this service. A test checks that each link has a target.
fn rewritten<'a>(guide: &Guide, base: &str, link: CowStr<'a>) -> CowStr<'a> {
    match links::target(guide.source, &link) {
        Some(target) if target.starts_with('/') => format!("{base}{target}").into(),
        Some(target) => target.into(),
        None => link,
    }
}

/// Returns the HTML that begins a `<picture>` element, with the drawing for narrow screens as a source. A test checks
/// that each picture has such a drawing beside it.
fn narrow_picture(path: &str) -> String {
    let narrow = path.replace(".svg", "-narrow.svg");
    format!("<picture><source media=\"(max-width: 40rem)\" srcset=\"{narrow}\">")
}

/// Returns the headings, each with an id that is unique on the page. The ids are the same as on GitHub, so that links
/// to a heading work on both.
pub(super) fn headings(markdown: &str) -> Vec<Heading> {
    let mut headings: Vec<Heading> = Vec::new();
    // The excerpt skips code blocks and the header rows of tables.
    let (mut is_heading, mut is_skipped) = (false, false);
    for event in parser(markdown) {
        match event {
            Event::Start(Tag::Heading { level, .. }) => {
                is_heading = true;
                let [id, text, excerpt] = [const { String::new() }; 3];
                headings.push(Heading { level, id, text, excerpt });
            }
            Event::End(TagEnd::Heading(_)) => is_heading = false,
            Event::Start(Tag::CodeBlock(_) | Tag::TableHead) => is_skipped = true,
            Event::End(TagEnd::CodeBlock | TagEnd::TableHead) => is_skipped = false,
            Event::Text(text) | Event::Code(text) if !is_skipped => {
                if let Some(heading) = headings.last_mut() {
                    let part = if is_heading { &mut heading.text } else { &mut heading.excerpt };
                    part.push_str(&text);
                }
            }
            Event::End(TagEnd::Paragraph | TagEnd::Item) | Event::SoftBreak => {
                if let Some(heading) = headings.last_mut() {
                    heading.excerpt.push(' ');
                }
            }
            Event::End(TagEnd::TableCell) if !is_skipped => {
                if let Some(heading) = headings.last_mut() {
                    heading.excerpt.push_str(" · ");
                }
            }
            _ => {}
        }
    }
    for heading in &mut headings {
        heading.excerpt = shortened(&heading.excerpt);
    }
    let mut used: HashMap<String, usize> = HashMap::new();
    for heading in &mut headings {
        let id = slug(&heading.text);
        let count = used.entry(id.clone()).or_default();
        heading.id = if *count == 0 { id } else { format!("{id}-{count}") };
        *count += 1;
    }
    headings
}

/// Returns the first words of a text, separated by single spaces: at most [`EXCERPT_CHARS`] characters.
fn shortened(text: &str) -> String {
    let mut short = String::new();
    let mut room = EXCERPT_CHARS;
    for word in text.split_whitespace() {
        let length = word.chars().count() + usize::from(!short.is_empty());
        if length > room {
            return short + " …";
        }
        if !short.is_empty() {
            short.push(' ');
        }
        short.push_str(word);
        room -= length;
    }
    short
}

fn slug(text: &str) -> String {
    let kept = |symbol: char| match symbol {
        ' ' => Some('-'),
        '-' | '_' => Some(symbol),
        symbol if symbol.is_alphanumeric() => Some(symbol),
        _ => None,
    };
    text.to_lowercase().chars().filter_map(kept).collect()
}

fn parser(markdown: &str) -> Parser<'_> {
    Parser::new_ext(markdown, Options::ENABLE_TABLES)
}

/// Maximum length of an excerpt in characters. It limits the size of the search index.
const EXCERPT_CHARS: usize = 200;
