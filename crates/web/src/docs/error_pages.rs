//! The page of each code, to which the `type` of every problem document leads, and the list of them.

use askama::Template;
use sealpost_api::{errors, status_and_title};
use sealpost_domain::Code;

use super::{layout, prose};
use crate::pages::Place;

/// The list of all codes.
pub(super) fn index(place: &Place) -> String {
    let entry = |code: Code| {
        let means = prose::html(errors::meaning(code).means);
        Entry { code: code.as_str(), status: status_and_title(code).0.as_u16(), means }
    };
    let entries = errors::in_order().into_iter().map(entry).collect();
    layout(place, "Errors", "/docs/errors").around(&Index { base: &place.base_path, entries })
}

/// Each code's page by its path.
pub(super) fn pages(place: &Place) -> Vec<(String, String)> {
    Code::ALL.into_iter().map(|code| (format!("/docs/errors/{code}"), page(place, code))).collect()
}

fn page(place: &Place, code: Code) -> String {
    let (status, title) = status_and_title(code);
    let meaning = errors::meaning(code);
    let problem = (meaning.example)();
    let document = problem.document(&place.base_url, errors::EXAMPLE_REQUEST);
    let page = Page {
        base: &place.base_path,
        code: code.as_str(),
        status: status.as_u16(),
        reason: status.canonical_reason().unwrap_or_default(),
        title,
        means: prose::html(meaning.means),
        when: meaning.when.iter().map(|text| prose::html(text)).collect(),
        remedy: meaning.remedy.iter().map(|text| prose::html(text)).collect(),
        advice: prose::html(meaning.retry.advice()),
        example: serde_json::to_string_pretty(&document).unwrap_or_default(),
    };
    layout(place, code.as_str(), "/docs/errors").around(&page)
}

#[derive(Template)]
#[template(path = "codes.html")]
struct Index<'a> {
    base: &'a str,
    entries: Vec<Entry>,
}

struct Entry {
    code: &'static str,
    status: u16,
    means: String,
}

#[derive(Template)]
#[template(path = "code.html")]
struct Page<'a> {
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
