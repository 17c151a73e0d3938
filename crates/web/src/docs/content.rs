//! All documentation pages, the files that they link to, the search index, and the list for language models. All are
//! rendered together at the first request, and then kept in memory.

use std::{collections::HashMap, sync::OnceLock};

use actix_web::http::header::HeaderValue;
use sealpost_api::{StaticContent, openapi};

use super::{
    error_pages,
    guides::{self, FILES, SourceFile},
    llms, reference, search,
};
use crate::html::{SiteAddress, cached_file, cached_page};

/// The documentation pages of a service. The links on the pages contain the public address of the service.
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
    pages.chain(FILES.iter().map(file)).chain(lists(site)).collect()
}

/// Returns two lists of all pages, each with its path: the search index, and the list for language models.
fn lists(site: &SiteAddress) -> [(String, StaticContent); 2] {
    let index = search::index(site, &openapi(&site.base_url));
    [
        (search::INDEX.to_owned(), StaticContent::json(index)),
        (llms::PATH.to_owned(), cached_file(PLAIN_TEXT, llms::list(site))),
    ]
}

/// Renders all pages. Returns the path and the HTML of each page.
pub(super) fn pages(site: &SiteAddress) -> Vec<(String, String)> {
    let mut pages = guides::pages(site);
    pages.extend(error_pages::pages(site));
    pages.extend(reference::pages(site, &openapi(&site.base_url)));
    pages
}

const PLAIN_TEXT: HeaderValue = HeaderValue::from_static("text/plain; charset=utf-8");
