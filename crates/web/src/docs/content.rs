//! All documentation pages, rendered once, at the first request.

use std::{collections::HashMap, sync::OnceLock};

use sealpost_api::{StaticContent, openapi};

use super::{error_pages, reference};
use crate::html::{SiteAddress, cached_page};

/// The documentation pages of a service, with links to its public address.
pub(crate) struct Docs {
    site: SiteAddress,
    /// The rendered pages by path.
    pages: OnceLock<HashMap<String, StaticContent>>,
}

impl Docs {
    pub(crate) fn new(site: SiteAddress) -> Self {
        Self { site, pages: OnceLock::new() }
    }

    /// Returns the page with this path.
    pub(super) fn page(&self, path: &str) -> Option<&StaticContent> {
        self.pages.get_or_init(|| cached_pages(&self.site)).get(path)
    }
}

fn cached_pages(site: &SiteAddress) -> HashMap<String, StaticContent> {
    pages(site).into_iter().map(|(path, html)| (path, cached_page(html))).collect()
}

/// Renders all pages. Returns path and HTML of each.
pub(super) fn pages(site: &SiteAddress) -> Vec<(String, String)> {
    let mut pages = error_pages::pages(site);
    pages.push(("/docs".to_owned(), reference::page(site, &openapi(&site.base_url))));
    pages.push(("/docs/errors".to_owned(), error_pages::index(site)));
    pages
}
