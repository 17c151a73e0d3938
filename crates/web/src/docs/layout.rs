//! The layout of the documentation pages: navigation, sidebar, main part and contents.

use askama::Template;

use super::{
    guides::{self, Heading},
    search,
};
use crate::{
    assets,
    html::{Layout, LayoutExtras, Nav, SiteAddress},
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
        let Self { site, title, path, sidebar, headings } = *self;
        let frame = Frame {
            base: &site.base_path,
            path,
            sidebar,
            headings,
            script: &assets::PLACE.name,
            // Rendering writes into memory, so it does not fail.
            main: main.render().unwrap_or_default(),
        };
        let search = SearchForm {
            base: &site.base_path,
            index: search::INDEX,
            script: &assets::SEARCH.name,
        };
        let extras = LayoutExtras {
            stylesheet: Some(&assets::DOCS.name),
            nav_end: search.render().unwrap_or_default(),
            ..LayoutExtras::default()
        };
        Layout { site, title, nav: &Nav::SITE, current: Nav::SITE.current(path) }
            .render_with(&frame, &extras)
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
    path: &'a str,
    sidebar: &'a [SidebarGroup],
    headings: &'a [Heading],
    script: &'a str,
    main: String,
}

/// The search in the header.
#[derive(Template)]
#[template(path = "docs/search.html")]
struct SearchForm<'a> {
    base: &'a str,
    index: &'a str,
    script: &'a str,
}

const REFERENCE: [(&str, &str); 4] = [
    ("API reference", "/docs/reference"),
    ("Errors", "/docs/errors"),
    ("Files", "/docs/files"),
    ("OpenAPI document", "/openapi.json"),
];
