//! Tests of all documentation pages, and of the file `docs/errors.md`, which has the same content as the error pages.

use std::{
    collections::{HashMap, HashSet},
    fmt::Write as _,
    fs,
    path::Path,
};

use sealpost_api::{
    errors::{self, ErrorDocumentation},
    openapi, status_and_title,
};
use sealpost_domain::Code;
use serde_json::Value;

use super::{
    content, guides, llms,
    search::{self, SYNONYMS},
    snippets::{self, Snippet},
};
use crate::html::SiteAddress;

const SITE: &str = "https://seal.example.org";

/// Returns the HTML of all pages, by path.
fn all_pages(base_url: &str) -> HashMap<String, String> {
    content::pages(&SiteAddress::new(base_url)).into_iter().collect()
}

/// Returns the path and the operation object of each endpoint.
fn operations() -> Vec<(String, Value)> {
    let document = openapi(SITE);
    let paths = document["paths"].as_object().unwrap().iter();
    let operations = paths.flat_map(|(path, item)| {
        item.as_object().unwrap().values().map(move |it| (path.clone(), it.clone()))
    });
    operations.collect()
}

/// Returns the path of the page of an operation.
fn address_of(operation: &Value) -> String {
    format!("/docs/reference/{}", operation["operationId"].as_str().unwrap())
}

#[test]
fn no_page_needs_more_than_its_content_security_policy_allows() {
    for (path, html) in all_pages(SITE) {
        for forbidden in ["<style", " style=", "javascript:", " onclick=", " onload=", "http-equiv"]
        {
            assert!(!html.contains(forbidden), "{path} has {forbidden}");
        }
        assert_eq!(html.matches("<script").count(), 3, "{path}");
        assert!(html.contains("<script src=\"/assets/copy."), "{path}");
        assert!(html.contains("<script src=\"/assets/search."), "{path}");
        assert!(html.contains("<script src=\"/assets/place."), "{path}");
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
    let pages = all_pages(SITE);
    for (path, operation) in operations() {
        let address = address_of(&operation);
        let page = &pages[&address];
        assert!(pages["/docs/reference"].contains(&format!("\"{address}\"")), "{path}");
        let (path, end) = path.split_once('{').map_or((&*path, "&#39;"), |(path, _)| (path, ""));
        assert!(page.contains(&format!("{SITE}{path}{end}")), "{path}");
        for response in operation["responses"].as_object().unwrap().values() {
            let examples = &response["content"]["application/problem+json"]["examples"];
            for code in examples.as_object().into_iter().flat_map(serde_json::Map::keys) {
                assert!(page.contains(&format!("/docs/errors/{code}\"")), "{path}: {code}");
            }
        }
    }
}

/// Checks that each endpoint has an example for each client library. Two endpoints are aliases of other endpoints. The
/// client libraries call only the other endpoints, so the aliases have no such example.
#[test]
fn every_endpoint_has_the_call_of_each_client() {
    let pages = all_pages(SITE);
    for (path, operation) in operations() {
        let page = &pages[&address_of(&operation)];
        let has_call = |language: &&str| page.contains(&format!(">{language}</label>"));
        let calls = ["Python", "TypeScript", "Rust"].iter().filter(|it| has_call(it)).count();
        let is_alias = path == "/did.json" || path == "/v1/webhooks";
        assert_eq!(calls, if is_alias { 0 } else { 3 }, "{path}");
        assert!(page.contains(">curl</label>"), "{path}");
    }
}

#[test]
fn every_endpoint_lists_its_headers_and_shows_an_api_token_first() {
    let pages = all_pages(SITE);
    for (path, operation) in operations() {
        let page = &pages[&address_of(&operation)];
        let lists = |header| page.contains(&format!("<dt><code>{header}</code></dt>"));
        assert_eq!(lists("Content-Type"), operation.get("requestBody").is_some(), "{path}");
        let is_public = operation["security"].as_array().is_none_or(Vec::is_empty);
        assert_eq!(lists("Authorization"), !is_public, "{path}");
    }
    let page = &pages["/docs/reference/sendMessage"];
    for header in
        ["Authorization", "Content-Type", "X-DID-API-Key", "Idempotency-Key", "X-Request-Id"]
    {
        assert!(page.contains(&format!("<dt><code>{header}</code></dt>")), "{header}");
    }
    let place = |text: &str| page.find(text).unwrap_or_else(|| panic!("{text}"));
    assert!(place("Bearer $SEALPOST_TOKEN") < place("Bearer $SESSION_TOKEN"));
}

#[test]
fn pages_of_endpoints_describe_all_fields_and_variants() {
    let pages = all_pages(SITE);
    for (path, page) in pages.iter().filter(|(path, _)| path.starts_with("/docs/reference/")) {
        assert!(!page.contains("<dd></dd>"), "{path} has a field without a description");
        for soup in ["quiet\">any", "array of any", "<code>null</code> or null"] {
            assert!(!page.contains(soup), "{path}: {soup}");
        }
        for list in page.split(">one of ").skip(1) {
            let values = list.split("</span>").next().unwrap().matches("<code>").count();
            assert!(values < 10, "{path} has a list of {values} values in a line");
        }
    }
    let actions = &pages["/docs/reference/manageWebhooks"];
    assert!(actions.contains("<h3><code>rotate_secret</code></h3>"), "{actions}");
    let batch = &pages["/docs/reference/sendMessages"];
    assert!(batch.contains("<code>results[].envelope_id</code>"), "{batch}");
    let received = &pages["/docs/reference/receiveEnvelope"];
    assert!(!received.contains("<code>envelope.bounced</code>"), "{received}");
}

/// Checks that the imports of each example are at its top, and that each example has few empty lines.
#[test]
fn examples_begin_with_their_imports() {
    for (_, operation) in operations() {
        let id = operation["operationId"].as_str().unwrap();
        for Snippet { language, text } in snippets::snippets(id) {
            let is_import =
                |line: &str| ["import ", "from ", "use "].iter().any(|it| line.starts_with(it));
            let code = text.lines().skip_while(|line| is_import(line));
            assert!(!code.clone().any(is_import), "{id} in {language}:\n{text}");
            let gaps = code.filter(|line| line.is_empty()).count();
            assert!(gaps < 4 && !text.contains("\n\n\n"), "{id} in {language}:\n{text}");
        }
    }
}

#[test]
fn the_event_of_an_envelope_has_a_receiver_in_each_language() {
    let page = &all_pages(SITE)["/docs/reference/receiveEnvelope"];
    for language in ["Event", "Python", "TypeScript", "Rust", "Go"] {
        assert!(page.contains(&format!(">{language}</label>")), "{language}");
    }
    assert_eq!(page.matches("class=\"panel\"").count(), 5);
}

#[test]
fn every_code_has_a_page_with_an_example() {
    let pages = all_pages(SITE);
    for code in Code::ALL {
        let page = &pages[&format!("/docs/errors/{code}")];
        assert!(page.contains(&format!("{SITE}/docs/errors/{code}")), "{code}");
        assert!(pages["/docs/errors"].contains(&format!("/docs/errors/{code}\"")), "{code}");
    }
}

#[test]
fn the_search_index_leads_to_each_heading_endpoint_and_code() {
    let site = SiteAddress::new("https://example.org/seal");
    let pages = all_pages(&site.base_url);
    let index = search::index(&site, &openapi(&site.base_url));
    assert!(index.len() < 256 * 1024, "the index has {} bytes", index.len());
    let index: Vec<HashMap<String, String>> = serde_json::from_str(&index).unwrap();
    let indexed: HashSet<_> = index.iter().map(|entry| entry["to"].as_str()).collect();
    assert_eq!(indexed.len(), index.len());
    for to in &indexed {
        let (path, anchor) = to.split_once('#').unwrap_or((to, ""));
        let page = &pages[path.strip_prefix("/seal").unwrap()];
        assert!(anchor.is_empty() || page.contains(&format!(" id=\"{anchor}\">")), "{to}");
    }
    for (path, html) in &pages {
        // The lists of guides, endpoints, codes and files have no entries of their own.
        if ["/docs", "/docs/reference", "/docs/errors", "/docs/files"].contains(&path.as_str()) {
            continue;
        }
        if path.starts_with("/docs/reference/") || path.starts_with("/docs/errors/") {
            assert!(indexed.contains(format!("/seal{path}").as_str()), "{path}");
            continue;
        }
        for level in 1..=6 {
            for heading in html.split(&format!("<h{level} id=\"")).skip(1) {
                let anchor = heading.split('"').next().unwrap();
                assert!(
                    indexed.contains(format!("/seal{path}#{anchor}").as_str()),
                    "{path}#{anchor}"
                );
            }
        }
    }
    for (to, words) in SYNONYMS {
        assert!(indexed.contains(format!("/seal{to}").as_str()), "{to}");
        assert_eq!(*words, words.to_lowercase());
    }
    let text =
        |heading: &str| &index.iter().find(|entry| entry["heading"] == heading).unwrap()["text"];
    assert_eq!(text("Send a sealed message"), "POST /v1/channel/send");
    assert!(text("Concepts").split_whitespace().count() > 5);
}

#[test]
fn the_list_for_language_models_links_to_served_pages_only() {
    let site = SiteAddress::new("https://example.org/seal");
    let list = llms::list(&site);
    let pages = all_pages(&site.base_url);
    let linked: HashSet<_> = list
        .split("](https://example.org/seal")
        .skip(1)
        .map(|rest| rest.split(')').next().unwrap())
        .collect();
    assert_eq!(list.matches("](").count(), linked.len());
    for path in &linked {
        assert!(pages.contains_key(*path) || *path == "/openapi.json", "{path}");
    }
    for (path, _) in guides::pages(&site) {
        assert!(path == "/docs" || linked.contains(path.as_str()), "{path} is missing");
    }
}

#[test]
fn pictures_have_the_colours_of_the_pages() {
    let style = include_str!("../../assets/sealpost.css");
    for entry in fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/pictures")).unwrap()
    {
        let path = entry.unwrap().path();
        let picture = fs::read_to_string(&path).unwrap();
        for colour in picture.split(": #").skip(1).filter_map(|rest| rest.split(';').next()) {
            assert!(style.contains(&format!(": #{colour};")), "{}: #{colour}", path.display());
        }
    }
}

/// Compares `docs/errors.md` with the error pages. To update the file, run `SEALPOST_WRITE_DOCS=1 cargo test -p
/// sealpost-web docs`.
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
            "| {} | [{code}](#{}) | {} | {} |",
            status_and_title(code).0.as_u16(),
            anchor(code),
            status_and_title(code).1,
            errors::documentation(code).retry.summary()
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

| status | code | | retry |
|---|---|---|---|
";
