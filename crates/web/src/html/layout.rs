//! The layout of all pages: head, navigation, main part and footer.

use askama::Template;

use crate::assets::{ICON, SCRIPT, STYLESHEET};

/// The public address of the service, for links.
#[derive(Debug, Clone)]
pub(crate) struct SiteAddress {
    /// The URL that clients use, without a trailing slash.
    pub(crate) base_url: String,
    /// The path of the base URL. Empty unless a proxy serves Sealpost below a path.
    pub(crate) base_path: String,
}

/// A link in the navigation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NavLink {
    /// The text of the link.
    pub(crate) text: &'static str,
    /// The path that the link leads to, without the path of the base URL.
    pub(crate) to: &'static str,
}

/// The navigation in the header and the footer of a page.
pub(crate) struct Nav {
    /// The path that the logo in the header leads to.
    pub(crate) home: &'static str,
    pub(crate) links: &'static [NavLink],
    /// The links in the footer.
    pub(crate) footer: &'static [NavLink],
}

impl Nav {
    /// The navigation of all pages except those of the console.
    pub(crate) const SITE: Self = Self {
        home: "/",
        links: &[
            NavLink { text: "Guides", to: "/docs" },
            NavLink { text: "Reference", to: "/docs/reference" },
            NavLink { text: "Errors", to: "/docs/errors" },
            NavLink { text: "Dashboard", to: "/dashboard" },
        ],
        footer: &[
            NavLink { text: "Quick start", to: "/docs/quickstart" },
            NavLink { text: "Clients", to: "/docs/clients" },
            NavLink { text: "Questions and answers", to: "/docs/faq" },
            NavLink { text: "Security", to: "/docs/security" },
            NavLink { text: "OpenAPI document", to: "/openapi.json" },
        ],
    };
}

/// Returns the path of the link to mark as current on the page at `path`: the last link to this page or a page above
/// it. Empty if there is none.
pub(crate) fn current_link(links: &[NavLink], path: &str) -> &'static str {
    let is_below = |link: &&NavLink| path.starts_with(link.to);
    links.iter().rev().find(is_below).map_or("", |link| link.to)
}

/// The layout of a page: its title, its navigation, and the parts that only some pages have.
pub(crate) struct Layout<'a> {
    /// The public address of the service.
    pub(crate) site: &'a SiteAddress,
    /// The title of the page.
    pub(crate) title: &'a str,
    /// The links of the navigation.
    pub(crate) nav: &'a Nav,
    /// The path of the navigation link to mark as current. Empty if none is marked.
    pub(crate) current: &'a str,
    /// The file name of a second stylesheet. `None` if there is none.
    pub(crate) stylesheet: Option<&'static str>,
    /// The links beside the main part. `None` if the page has no sidebar.
    pub(crate) sidebar: Option<Sidebar<'a>>,
    /// HTML that is inserted at the end of the header.
    pub(crate) nav_end: String,
    pub(crate) notice: Notice<'a>,
}

/// The links beside a page of the dashboard or the console.
pub(crate) struct Sidebar<'a> {
    /// The name of the navigation, for assistive technology.
    pub(crate) label: &'static str,
    pub(crate) links: &'a [NavLink],
    /// The path of the link to mark as current. Empty if none is marked.
    pub(crate) current: &'a str,
}

/// The result of a form, shown above the main part. Empty if there is none.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Notice<'a> {
    pub(crate) text: &'a str,
    pub(crate) is_failure: bool,
}

impl SiteAddress {
    /// Creates the address of the site from its base URL.
    pub(crate) fn new(base_url: &str) -> Self {
        let rest = base_url.split_once("://").map_or(base_url, |(_, rest)| rest);
        let base_path =
            rest.split_once('/').map_or_else(String::new, |(_, path)| format!("/{path}"));
        Self { base_url: base_url.to_owned(), base_path }
    }
}

impl<'a> Layout<'a> {
    /// Creates the layout of a page without additional parts. It has the navigation of all pages except those of the
    /// console, and marks no link as current.
    pub(crate) fn new(site: &'a SiteAddress, title: &'a str) -> Self {
        let (nav, notice) = (&Nav::SITE, Notice::default());
        let (stylesheet, sidebar, nav_end) = (None, None, String::new());
        Self { site, title, nav, current: "", stylesheet, sidebar, nav_end, notice }
    }

    /// Renders the whole page around `main`.
    pub(crate) fn render(&self, main: &impl Template) -> String {
        // Rendering writes into memory, so it does not fail.
        let main = main.render().unwrap_or_default();
        let page = LayoutTemplate { base: &self.site.base_path, layout: self, main };
        page.render().unwrap_or_default()
    }
}

#[derive(Template)]
#[template(path = "layout.html")]
struct LayoutTemplate<'a> {
    base: &'a str,
    layout: &'a Layout<'a>,
    main: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Template)]
    #[template(source = "<p>{{ label }}</p>", ext = "html")]
    struct Hello<'a> {
        label: &'a str,
    }

    #[test]
    fn links_include_the_path_of_the_base_url() {
        for (base_url, base_path) in [
            ("http://127.0.0.1:8080", ""),
            ("https://seal.example.org", ""),
            ("https://example.org/seal/post", "/seal/post"),
        ] {
            let site = SiteAddress::new(base_url);
            assert_eq!(site.base_path, base_path);
            let page = Layout::new(&site, "Hello").render(&Hello { label: "x" });
            assert!(page.contains(&format!("href=\"{base_path}/docs\"")), "{page}");
            assert!(page.contains(&format!("href=\"{base_path}/assets/sealpost.")), "{page}");
        }
    }

    #[test]
    fn user_text_is_escaped() {
        let site = SiteAddress::new("http://127.0.0.1:8080");
        let label = "<script>alert(1)</script>";
        let page = Layout::new(&site, label).render(&Hello { label });
        assert!(!page.contains(label), "{page}");
        assert_eq!(page.matches("alert(1)").count(), 2, "{page}");
    }
}
