//! All documentation pages, and the files that they link to. The pages are rendered together at the first request, and then kept in memory.

use std::{collections::HashMap, sync::OnceLock};

use sealpost_api::{StaticContent, openapi};

use super::{
    error_pages,
    guides::{self, FILES, SourceFile},
    reference,
};
use crate::html::{SiteAddress, cached_file, cached_page};

/// The documentation pages of a service. Their links contain its public address.
pub(crate) struct Docs {
    site: SiteAddress,
    /// The rendered pages and the files by path. Empty until the first request.
    pages: OnceLock<HashMap<String, StaticContent>>,
}

impl Docs {
    pub(crate) fn new(site: SiteAddress) -> Self {
        Self { site, pages: OnceLock::new() }
    }

    /// Returns the page or file with this path, or `None` if there is none.
    pub(super) fn page(&self, path: &str) -> Option<&StaticContent> {
        self.pages.get_or_init(|| cached_pages(&self.site)).get(path)
    }
}

fn cached_pages(site: &SiteAddress) -> HashMap<String, StaticContent> {
    let pages = pages(site).into_iter().map(|(path, html)| (path, cached_page(html)));
    let file = |file: &SourceFile| {
        (format!("/{}", file.path), cached_file(file.content_type(), file.text))
    };
    pages.chain(FILES.iter().map(file)).collect()
}

/// Renders all pages. Returns the path and the HTML of each.
pub(super) fn pages(site: &SiteAddress) -> Vec<(String, String)> {
    let mut pages = guides::pages(site);
    pages.extend(error_pages::pages(site));
    pages.extend(reference::pages(site, &openapi(&site.base_url)));
    pages
}
