//! Tests of all documentation pages, and of the file `docs/errors.md`, which has the same content as the error pages.

use std::{collections::HashMap, fmt::Write as _, fs, path::Path};

use sealpost_api::{
    errors::{self, ErrorDocumentation},
    openapi, status_and_title,
};
use sealpost_domain::Code;

use super::content;
use crate::html::SiteAddress;

fn all_pages() -> Vec<(String, String)> {
    content::pages(&SiteAddress::new("http://127.0.0.1:8080"))
}

#[test]
fn no_page_needs_more_than_its_content_security_policy_allows() {
    for (path, html) in all_pages() {
        for forbidden in ["<style", " style=", "javascript:", " onclick=", " onload=", "http-equiv"]
        {
            assert!(!html.contains(forbidden), "{path} has {forbidden}");
        }
        assert_eq!(html.matches("<script").count(), 1, "{path}");
        assert!(html.contains("<script src=\"/assets/copy."), "{path}");
        let loaded = ["src=\"", "<link rel=\"stylesheet\" href=\""];
        for way in loaded {
            for target in html.split(way).skip(1) {
                let is_own =
                    target.starts_with("/assets/") || target.starts_with("/docs/pictures/");
                assert!(is_own, "{path} loads from elsewhere");
            }
        }
    }
}

#[test]
fn every_endpoint_has_a_page_with_a_command_and_its_codes() {
    let document = openapi("https://seal.example.org");
    let site = SiteAddress::new("https://seal.example.org");
    let pages: HashMap<_, _> = content::pages(&site).into_iter().collect();
    for (path, item) in document["paths"].as_object().unwrap() {
        for operation in item.as_object().unwrap().values() {
            let address = format!("/docs/reference/{}", operation["operationId"].as_str().unwrap());
            let page = &pages[&address];
            assert!(pages["/docs/reference"].contains(&format!("\"{address}\"")), "{path}");
            let (path, end) =
                path.split_once('{').map_or((&**path, "&#39;"), |(path, _)| (path, ""));
            assert!(page.contains(&format!("https://seal.example.org{path}{end}")), "{path}");
            let responses = operation["responses"].as_object().unwrap().values();
            for response in responses {
                let examples = &response["content"]["application/problem+json"]["examples"];
                for code in examples.as_object().into_iter().flat_map(serde_json::Map::keys) {
                    assert!(page.contains(&format!("/docs/errors/{code}\"")), "{path}: {code}");
                }
            }
        }
    }
}

#[test]
fn the_event_of_an_envelope_has_a_receiver_in_each_language() {
    let pages: HashMap<_, _> = all_pages().into_iter().collect();
    let page = &pages["/docs/reference/receiveEnvelope"];
    for language in ["Event", "Python", "Node", "Rust", "Go"] {
        assert!(page.contains(&format!(">{language}</label>")), "{language}");
    }
    assert_eq!(page.matches("class=\"panel\"").count(), 5);
}

#[test]
fn every_code_has_a_page_with_an_example() {
    let pages: HashMap<_, _> = all_pages().into_iter().collect();
    for code in Code::ALL {
        let page = &pages[&format!("/docs/errors/{code}")];
        assert!(page.contains(&format!("http://127.0.0.1:8080/docs/errors/{code}")), "{code}");
        assert!(pages["/docs/errors"].contains(&format!("/docs/errors/{code}\"")), "{code}");
    }
}

/// If this test fails, `SEALPOST_WRITE_DOCS=1 cargo test -p sealpost-web docs` writes the current page.
#[test]
fn the_error_page_of_the_repository_is_current() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/errors.md");
    let text = errors_as_markdown();
    if std::env::var_os("SEALPOST_WRITE_DOCS").is_some() {
        fs::write(&file, &text).unwrap();
    }
    assert!(
        fs::read_to_string(&file).unwrap() == text,
        "docs/errors.md differs from crates/api/src/errors; run: SEALPOST_WRITE_DOCS=1 cargo test -p sealpost-web docs"
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
        let ErrorDocumentation { summary, causes, remedies, retry, .. } =
            errors::documentation(code);
        let list = |texts: &[&str]| {
            texts.iter().fold(String::new(), |list, text| list + "- " + text + "\n")
        };
        let advice = retry.advice();
        write!(
            text,
            "\n## {code}\n\n{summary}\n\nCauses:\n\n{}\nWhat to do:\n\n{}\nIs it safe to retry? {advice}\n",
            list(causes),
            list(remedies),
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

An error response is a problem document (RFC 9457) with the content type `application/problem+json`:

| member | |
|---|---|
| `type` | the URL of the code's page on the same service |
| `title` | the meaning of the code, equal for all responses |
| `status` | the HTTP status |
| `detail` | the fault of this request, and the fix |
| `code` | the code for programs; it never changes |
| `request_id` | the name of the request, as in `X-Request-Id` |
| `field` | the field at fault, if there is one |

429 and 503 have `Retry-After`, 401 has `WWW-Authenticate`, 405 has `Allow`. Wait at least as long as `Retry-After` says.

This page is generated from the table in `crates/api/src/errors`, like the pages at `/docs/errors` of every service.

| status | code | |
|---|---|---|
";
