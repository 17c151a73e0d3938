//! The pages of the error codes, and the list of all codes. The `type` of an error response is the URL of the page for
//! its code.

use askama::Template;
use sealpost_api::{errors, status_and_title};
use sealpost_domain::Code;

use super::{layout::layout, markup};
use crate::html::SiteAddress;

/// Renders the page that lists all error codes.
pub(super) fn index(site: &SiteAddress) -> String {
    let row = |code: Code| {
        let means = markup::html(errors::documentation(code).summary);
        IndexRow { code: code.as_str(), status: status_and_title(code).0.as_u16(), means }
    };
    let rows = errors::in_order().into_iter().map(row).collect();
    layout(site, "Errors", "/docs/errors").render(&IndexPage { base: &site.base_path, rows })
}

/// Renders one page for each error code. Returns the path and the HTML of each.
pub(super) fn pages(site: &SiteAddress) -> Vec<(String, String)> {
    Code::ALL.into_iter().map(|code| (format!("/docs/errors/{code}"), page(site, code))).collect()
}

fn page(site: &SiteAddress, code: Code) -> String {
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
        example: serde_json::to_string_pretty(&document).unwrap_or_default(),
    };
    layout(site, code.as_str(), "/docs/errors").render(&page)
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
    example: String,
}
