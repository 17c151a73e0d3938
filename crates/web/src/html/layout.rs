//! The whole around a page's main part: head, navigation, foot.

use askama::Template;

use super::assets::{ICON, SCRIPT, STYLESHEET};

/// Where the pages are, as a browser sees it.
#[derive(Debug, Clone)]
pub(crate) struct Place {
    /// The address that callers know, without a slash at its end.
    pub(crate) base_url: String,
    /// Its path, which is empty unless a proxy puts the service below another path.
    pub(crate) base_path: String,
}

/// A way to another page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Link {
    /// What it is called.
    pub(crate) text: &'static str,
    /// Where it leads, from the root of the service on.
    pub(crate) to: &'static str,
}

/// What stands around the main part of a page.
pub(crate) struct Layout<'a> {
    /// Where the service is.
    pub(crate) place: &'a Place,
    /// What the page is called.
    pub(crate) title: &'a str,
    /// The ways to other pages that are shown on top; the first one is the way home.
    pub(crate) nav: &'a [Link],
    /// Which of them the page belongs to, by where it leads.
    pub(crate) here: &'a str,
}

/// What only some pages have, besides.
#[derive(Default)]
pub(crate) struct Besides {
    /// The name of one more stylesheet.
    pub(crate) stylesheet: Option<&'static str>,
    /// HTML at the end of the navigation.
    pub(crate) nav_end: String,
}

impl Place {
    /// Where a service with this address has its pages.
    pub(crate) fn new(base_url: &str) -> Self {
        let rest = base_url.split_once("://").map_or(base_url, |(_, rest)| rest);
        let base_path =
            rest.split_once('/').map_or_else(String::new, |(_, path)| format!("/{path}"));
        Self { base_url: base_url.to_owned(), base_path }
    }
}

impl Layout<'_> {
    /// The whole page.
    pub(crate) fn around(&self, main: &impl Template) -> String {
        self.around_with(main, &Besides::default())
    }

    /// The whole page, and what only pages like it have.
    pub(crate) fn around_with(&self, main: &impl Template, besides: &Besides) -> String {
        let whole = Whole {
            base: &self.place.base_path,
            title: self.title,
            home: self.nav.first().map_or("/", |link| link.to),
            nav: self.nav,
            here: self.here,
            stylesheet: &STYLESHEET.name,
            script: &SCRIPT.name,
            icon: &ICON.name,
            besides,
            // A template writes into memory alone, which does not fail.
            main: main.render().unwrap_or_default(),
        };
        whole.render().unwrap_or_default()
    }
}

#[derive(Template)]
#[template(path = "layout.html")]
struct Whole<'a> {
    base: &'a str,
    title: &'a str,
    home: &'a str,
    nav: &'a [Link],
    here: &'a str,
    stylesheet: &'a str,
    script: &'a str,
    icon: &'a str,
    besides: &'a Besides,
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

    fn layout<'a>(place: &'a Place, title: &'a str) -> Layout<'a> {
        Layout { place, title, nav: &[Link { text: "Elsewhere", to: "/elsewhere" }], here: "" }
    }

    #[test]
    fn links_go_through_the_path_that_a_proxy_serves() {
        for (base_url, base_path) in [
            ("http://127.0.0.1:8080", ""),
            ("https://seal.example.org", ""),
            ("https://example.org/seal/post", "/seal/post"),
        ] {
            let place = Place::new(base_url);
            assert_eq!(place.base_path, base_path);
            let page = layout(&place, "Hello").around(&Hello { label: "x" });
            assert!(page.contains(&format!("href=\"{base_path}/elsewhere\"")), "{page}");
            assert!(page.contains(&format!("href=\"{base_path}/assets/sealpost.")), "{page}");
        }
    }

    #[test]
    fn what_people_wrote_is_shown_and_never_run() {
        let place = Place::new("http://127.0.0.1:8080");
        let label = "<script>alert(1)</script>";
        let page = layout(&place, label).around(&Hello { label });
        assert!(!page.contains(label), "{page}");
        assert_eq!(page.matches("alert(1)").count(), 2, "{page}");
    }
}
