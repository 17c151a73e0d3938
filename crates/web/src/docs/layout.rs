//! The layout of the documentation pages: navigation, sidebar, main part and contents.

use askama::Template;

use super::{
    guides::{self, Heading},
    search::INDEX,
};
use crate::{
    assets::{DOCS, PLACE, SEARCH},
    html::{Layout, Nav, SiteAddress, current_link},
};

/// The layout of one documentation page.
pub(super) struct DocsLayout<'a> {
    pub(super) site: &'a SiteAddress,
    pub(super) title: &'a str,
    /// The path of the page. The links to this page are marked as current.
    pub(super) path: &'a str,
    pub(super) sidebar: &'a [SidebarGroup],
    /// The headings to list beside the page. Empty if the page has no such list.
    pub(super) headings: &'a [Heading],
}

/// A group of links in the sidebar.
pub(super) struct SidebarGroup {
    pub(super) title: String,
    pub(super) links: Vec<SidebarLink>,
}

pub(super) struct SidebarLink {
    pub(super) text: String,
    /// The path that the link leads to, without the path of the base URL.
    pub(super) to: String,
}

impl DocsLayout<'_> {
    /// Renders the whole page around `main`.
    pub(super) fn render(&self, main: &impl Template) -> String {
        let base = &self.site.base_path;
        // Rendering writes into memory, so it does not fail.
        let frame = Frame { base, layout: self, main: main.render().unwrap_or_default() };
        let layout = Layout {
            current: current_link(Nav::SITE.links, self.path),
            stylesheet: Some(&DOCS.name),
            nav_end: SearchForm { base }.render().unwrap_or_default(),
            ..Layout::new(self.site, self.title)
        };
        layout.render(&frame)
    }
}

/// Returns the sidebar of all pages except those of endpoints.
pub(super) fn guide_sidebar() -> Vec<SidebarGroup> {
    let link = |text: &str, to: &str| SidebarLink { text: text.to_owned(), to: to.to_owned() };
    let group = |group: &guides::GuideGroup| SidebarGroup {
        title: group.title.to_owned(),
        links: group.guides.iter().map(|guide| link(guide.title(), &guide.path())).collect(),
    };
    let mut groups: Vec<_> = guides::GROUPS.iter().map(group).collect();
    let reference = REFERENCE.iter().map(|(text, to)| link(text, to)).collect();
    groups.push(SidebarGroup { title: "Reference".to_owned(), links: reference });
    groups
}

#[derive(Template)]
#[template(path = "docs/frame.html")]
struct Frame<'a> {
    base: &'a str,
    layout: &'a DocsLayout<'a>,
    main: String,
}

/// The search in the header.
#[derive(Template)]
#[template(path = "docs/search.html")]
struct SearchForm<'a> {
    base: &'a str,
}

const REFERENCE: [(&str, &str); 4] = [
    ("API reference", "/docs/reference"),
    ("Errors", "/docs/errors"),
    ("Files", "/docs/files"),
    ("OpenAPI document", "/openapi.json"),
];
