//! The layout of the documentation pages, with their navigation.

use crate::html::{Layout, NavLink, SiteAddress};

/// Returns the layout of a page. `current` is the path of the navigation link to mark as current. If it is empty, none
/// is marked.
pub(super) fn layout<'a>(site: &'a SiteAddress, title: &'a str, current: &'a str) -> Layout<'a> {
    Layout { site, title, nav: NAV, current }
}

const NAV: &[NavLink] = &[
    NavLink { text: "Reference", to: "/docs" },
    NavLink { text: "Errors", to: "/docs/errors" },
    NavLink { text: "OpenAPI", to: "/openapi.json" },
];
