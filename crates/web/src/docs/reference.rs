//! The API reference: a list of all endpoints and events, and a page for each. The pages are rendered only from the
//! OpenAPI document, so they always agree with the document.

use std::collections::{HashMap, HashSet};

use askama::Template;
use serde_json::Value;

use super::{
    layout::{DocsLayout, SidebarGroup, SidebarLink},
    markup,
    operation::{ErrorRow, OperationDetails, list, tagged, text},
};
use crate::html::SiteAddress;

/// Renders the list of all operations, and one page for each. Returns the path and the HTML of each page.
pub(super) fn pages(site: &SiteAddress, document: &Value) -> Vec<(String, String)> {
    let sections: Vec<_> =
        list(document, "/tags").iter().map(|tag| TagSection::new(document, tag)).collect();
    let sidebar: Vec<_> = sections.iter().map(TagSection::links).collect();
    let operations: Vec<_> = sections.iter().flat_map(|section| &section.operations).collect();
    let common = common_codes(&operations);
    let page = |operation: &&OperationDetails| {
        (path(operation), operation_page(site, &sidebar, operation, &common))
    };
    let mut pages: Vec<_> = operations.iter().map(page).collect();
    let main = ReferencePage {
        base: &site.base_path,
        base_url: &site.base_url,
        about: markup::blocks(text(document, "/info/description")),
        sections: &sections,
    };
    let layout =
        DocsLayout { site, title: "API reference", path: INDEX, sidebar: &sidebar, headings: &[] };
    pages.push((INDEX.to_owned(), layout.render(&main)));
    pages
}

fn operation_page(
    site: &SiteAddress,
    sidebar: &[SidebarGroup],
    operation: &OperationDetails,
    common: &HashSet<&str>,
) -> String {
    let path = path(operation);
    let (common_errors, errors) =
        operation.errors.iter().partition(|error| common.contains(error.code.as_str()));
    let main = OperationPage { base: &site.base_path, operation, errors, common_errors };
    DocsLayout { site, title: &operation.summary, path: &path, sidebar, headings: &[] }
        .render(&main)
}

/// Returns the error codes that at least three quarters of the endpoints have. The page of an endpoint shows these
/// codes in a collapsed list, so that readers see the other codes first.
fn common_codes<'a>(operations: &[&'a OperationDetails]) -> HashSet<&'a str> {
    let mut counts: HashMap<&str, usize> = HashMap::new();
    for error in operations.iter().flat_map(|operation| &operation.errors) {
        *counts.entry(&error.code).or_default() += 1;
    }
    let endpoints = operations.iter().filter(|operation| !operation.errors.is_empty()).count();
    counts.retain(|_, count| *count * 4 >= endpoints * 3);
    counts.into_keys().collect()
}

fn path(operation: &OperationDetails) -> String {
    format!("{INDEX}/{}", operation.id)
}

/// The operations with the same tag.
struct TagSection {
    name: String,
    about: String,
    operations: Vec<OperationDetails>,
}

impl TagSection {
    fn new(document: &Value, tag: &Value) -> Self {
        let name = text(tag, "/name");
        Self {
            name: name.to_owned(),
            about: markup::html(text(tag, "/description")),
            operations: tagged(document, name)
                .map(|operation| operation.details(document))
                .collect(),
        }
    }

    fn links(&self) -> SidebarGroup {
        let link = |operation: &OperationDetails| SidebarLink {
            text: operation.summary.clone(),
            to: path(operation),
        };
        SidebarGroup { title: self.name.clone(), links: self.operations.iter().map(link).collect() }
    }
}

#[derive(Template)]
#[template(path = "docs/reference.html")]
struct ReferencePage<'a> {
    base: &'a str,
    base_url: &'a str,
    about: String,
    sections: &'a [TagSection],
}

#[derive(Template)]
#[template(path = "docs/operation.html")]
struct OperationPage<'a> {
    base: &'a str,
    operation: &'a OperationDetails,
    errors: Vec<&'a ErrorRow>,
    common_errors: Vec<&'a ErrorRow>,
}

const INDEX: &str = "/docs/reference";
