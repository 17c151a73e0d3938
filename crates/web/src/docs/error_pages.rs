//! The pages of the error codes, and the list of all codes. The member `type` of an error response is the URL of the
//! page for its error code.

use askama::Template;
use sealpost_api::{errors, status_and_title};
use sealpost_domain::Code;

use super::{
    highlight,
    layout::{DocsLayout, SidebarGroup, guide_sidebar},
    markup,
};
use crate::html::SiteAddress;

/// Renders the list of all error codes, and one page for each. Returns the path and the HTML of each page.
pub(super) fn pages(site: &SiteAddress) -> Vec<(String, String)> {
    let sidebar = guide_sidebar();
    let page = |code: Code| (format!("{INDEX}/{code}"), page(site, &sidebar, code));
    let mut pages: Vec<_> = Code::ALL.into_iter().map(page).collect();
    pages.push((INDEX.to_owned(), index(site, &sidebar)));
    pages
}

fn index(site: &SiteAddress, sidebar: &[SidebarGroup]) -> String {
    let row = |code: Code| {
        let documentation = errors::documentation(code);
        IndexRow {
            code: code.as_str(),
            status: status_and_title(code).0.as_u16(),
            means: markup::html(documentation.summary),
            retry: markup::html(documentation.retry.summary()),
        }
    };
    let rows = errors::in_order().into_iter().map(row).collect();
    DocsLayout { site, title: "Errors", path: INDEX, sidebar, headings: &[] }
        .render(&IndexPage { base: &site.base_path, rows })
}

fn page(site: &SiteAddress, sidebar: &[SidebarGroup], code: Code) -> String {
    let (status, title) = status_and_title(code);
    let documentation = errors::documentation(code);
    let problem = (documentation.example)();
    let document = problem.document(&site.base_url, errors::EXAMPLE_REQUEST);
    let page = CodePage {
        base: &site.base_path,
        code: code.as_str(),
        status: status.as_u16(),
        reason: status.canonical_reason().unwrap_or_default(),
        title,
        means: markup::html(documentation.summary),
        when: documentation.causes.iter().map(|text| markup::html(text)).collect(),
        remedy: documentation.remedies.iter().map(|text| markup::html(text)).collect(),
        advice: markup::html(documentation.retry.advice()),
        example: highlight::html(
            "json",
            &serde_json::to_string_pretty(&document).unwrap_or_default(),
        ),
    };
    // The sidebar has no link for each code, so it marks the link to the list of all codes as current.
    DocsLayout { site, title: code.as_str(), path: INDEX, sidebar, headings: &[] }.render(&page)
}

#[derive(Template)]
#[template(path = "docs/errors.html")]
struct IndexPage<'a> {
    base: &'a str,
    rows: Vec<IndexRow>,
}

struct IndexRow {
    code: &'static str,
    status: u16,
    means: String,
    retry: String,
}

#[derive(Template)]
#[template(path = "docs/error.html")]
struct CodePage<'a> {
    base: &'a str,
    code: &'static str,
    status: u16,
    reason: &'static str,
    title: &'static str,
    means: String,
    when: Vec<String>,
    remedy: Vec<String>,
    advice: String,
    /// The problem document as HTML.
    example: String,
}

const INDEX: &str = "/docs/errors";
