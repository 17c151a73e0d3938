use std::{fmt::Write as _, fs, path::Path};

use sealpost_api::{
    errors::{self, Meaning},
    status_and_title,
};
use sealpost_domain::Code;

use super::*;

fn all() -> Vec<(String, String)> {
    let place = Place::new("http://127.0.0.1:8080");
    let mut pages = codes::pages(&place);
    pages.push(("/docs".to_owned(), reference::page(&place, &openapi(&place.base_url))));
    pages.push(("/docs/errors".to_owned(), codes::index(&place)));
    pages
}

#[test]
fn nothing_on_a_page_needs_more_than_its_policy_allows() {
    for (path, html) in all() {
        for forbidden in ["<style", " style=", "javascript:", " onclick=", " onload=", "http-equiv"]
        {
            assert!(!html.contains(forbidden), "{path} has {forbidden}");
        }
        assert_eq!(html.matches("<script").count(), 1, "{path}");
        assert!(html.contains("<script src=\"/assets/copy."), "{path}");
        let loaded = ["src=\"", "<link rel=\"stylesheet\" href=\""];
        for way in loaded {
            for target in html.split(way).skip(1) {
                assert!(target.starts_with("/assets/"), "{path} loads from elsewhere");
            }
        }
    }
}

#[test]
fn every_endpoint_stands_on_the_reference_with_a_command_and_all_its_codes() {
    let document = openapi("https://seal.example.org");
    let html = reference::page(&Place::new("https://seal.example.org"), &document);
    for (path, item) in document["paths"].as_object().unwrap() {
        for operation in item.as_object().unwrap().values() {
            let anchor = format!("id=\"{}\"", operation["operationId"].as_str().unwrap());
            let card = html.split("<section").find(|card| card.contains(&anchor));
            let card = card.unwrap_or_else(|| panic!("{path} is not on the page"));
            let (path, end) =
                path.split_once('{').map_or((&**path, "&#39;"), |(path, _)| (path, ""));
            assert!(card.contains(&format!("https://seal.example.org{path}{end}")), "{path}");
            let responses = operation["responses"].as_object().unwrap().values();
            for response in responses {
                let examples = &response["content"]["application/problem+json"]["examples"];
                for code in examples.as_object().into_iter().flat_map(serde_json::Map::keys) {
                    assert!(card.contains(&format!("/docs/errors/{code}\"")), "{path}: {code}");
                }
            }
        }
    }
}

#[test]
fn every_code_has_a_page_with_its_example() {
    let pages: HashMap<_, _> = all().into_iter().collect();
    for code in Code::ALL {
        let page = &pages[&format!("/docs/errors/{code}")];
        assert!(page.contains(&format!("http://127.0.0.1:8080/docs/errors/{code}")), "{code}");
        assert!(pages["/docs/errors"].contains(&format!("/docs/errors/{code}\"")), "{code}");
    }
}

/// `SEALPOST_WRITE_DOCS=1 cargo test -p sealpost-web docs` writes it anew.
#[test]
fn the_page_of_errors_in_the_repository_says_the_same() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/errors.md");
    let text = errors_as_markdown();
    if std::env::var_os("SEALPOST_WRITE_DOCS").is_some() {
        fs::write(&file, &text).unwrap();
    }
    assert!(
        fs::read_to_string(&file).unwrap() == text,
        "docs/errors.md is not what crates/api/src/errors says: SEALPOST_WRITE_DOCS=1 cargo test -p sealpost-web docs"
    );
}

fn errors_as_markdown() -> String {
    let mut text = ERRORS_HEAD.to_owned();
    for code in errors::in_order() {
        writeln!(
            text,
            "| {} | [{code}](#{}) | {} |",
            status_and_title(code).0.as_u16(),
            anchor(code),
            status_and_title(code).1
        )
        .unwrap();
    }
    for code in errors::in_order() {
        let Meaning { means, when, remedy, retry, .. } = errors::meaning(code);
        let list = |texts: &[&str]| {
            texts.iter().fold(String::new(), |list, text| list + "- " + text + "\n")
        };
        let advice = retry.advice();
        write!(
            text,
            "\n## {code}\n\n{means}\n\nWhen it comes:\n\n{}\nWhat to do:\n\n{}\nIs it safe to try again? {advice}\n",
            list(when),
            list(remedy),
        )
        .unwrap();
    }
    text
}

fn anchor(code: Code) -> String {
    code.as_str().to_ascii_lowercase()
}

const ERRORS_HEAD: &str = "\
# Errors

A refusal is a problem document (RFC 9457) with the content type `application/problem+json`:

| member | |
|---|---|
| `type` | the address of the code's page on the service that answered |
| `title` | what the code means, the same each time |
| `status` | the HTTP status |
| `detail` | what is wrong with this request, and what to do |
| `code` | what programs look at; it never changes |
| `request_id` | the name of the request, as in `X-Request-Id` |
| `field` | the field at fault, where one is |

429 and 503 carry `Retry-After`, 401 `WWW-Authenticate`, 405 `Allow`. Wait as long as `Retry-After` says, and no shorter.

This page is made from the table in `crates/api/src/errors`, like the pages at `/docs/errors` of every service.

| status | code | |
|---|---|---|
";
