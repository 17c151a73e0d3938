//! The search index of the documentation. A script in the browser loads the index and searches it, so that searches
//! cost the server nothing.

use sealpost_api::errors;
use sealpost_domain::Code;
use serde::Serialize;
use serde_json::Value;

use super::{
    guides,
    operation::{list, tagged, text},
};
use crate::html::SiteAddress;

/// The path of the index.
pub(super) const INDEX: &str = "/docs/search.json";

/// A place that the search finds: a heading of a guide, an endpoint or an error code.
#[derive(Serialize)]
struct SearchEntry {
    /// The path with the anchor. It begins with the path of the base URL.
    to: String,
    page: String,
    heading: String,
    /// The beginning of the text below the heading.
    text: String,
    /// Further words in lower case that lead to this place.
    #[serde(skip_serializing_if = "Option::is_none")]
    words: Option<&'static str>,
}

/// Returns the index as a JSON array.
pub(super) fn index(site: &SiteAddress, document: &Value) -> String {
    let mut entries = guide_entries(&site.base_path);
    entries.extend(endpoint_entries(&site.base_path, document));
    entries.extend(error_entries(&site.base_path));
    // The entries contain only strings, so serialization does not fail.
    serde_json::to_string(&entries).unwrap_or_default()
}

fn guide_entries(base: &str) -> Vec<SearchEntry> {
    let mut entries = Vec::new();
    for (guide, headings) in guides::headings() {
        entries.extend(headings.into_iter().map(|heading| {
            let to = format!("{}#{}", guide.path(), heading.id);
            SearchEntry {
                words: SYNONYMS.iter().find(|(place, _)| *place == to).map(|(_, words)| *words),
                to: format!("{base}{to}"),
                page: guide.title().to_owned(),
                heading: heading.text,
                text: heading.excerpt,
            }
        }));
    }
    entries
}

fn endpoint_entries(base: &str, document: &Value) -> Vec<SearchEntry> {
    let mut entries = Vec::new();
    for tag in list(document, "/tags") {
        entries.extend(tagged(document, text(tag, "/name")).map(|operation| SearchEntry {
            to: format!("{base}/docs/reference/{}", operation.id()),
            page: "API reference".to_owned(),
            heading: operation.summary().to_owned(),
            text: operation.endpoint(),
            words: None,
        }));
    }
    entries
}

fn error_entries(base: &str) -> impl Iterator<Item = SearchEntry> {
    Code::ALL.into_iter().map(move |code| SearchEntry {
        to: format!("{base}/docs/errors/{code}"),
        page: "Errors".to_owned(),
        heading: code.to_string(),
        text: errors::documentation(code).summary.replace('`', ""),
        words: None,
    })
}

/// The headings of guides, with further words in lower case that readers search for and the heading does not contain.
pub(super) const SYNONYMS: &[(&str, &str)] = &[
    ("/docs/access#recovery", "lost forgot forgotten password login secret reset account"),
    ("/docs/agents#agents", "mcp ai llm claude cursor assistant"),
    (
        "/docs/behind-nat#receiving-behind-nat",
        "localhost 127.0.0.1 ngrok firewall local development private network",
    ),
    ("/docs/clients#clients", "sdk library package install"),
    ("/docs/concepts#policy", "spam block unsubscribe allowlist blocklist"),
    ("/docs/faq#can-a-web-page-call-the-api", "cors browser origin preflight frontend javascript"),
    ("/docs/faq#can-i-poll-for-messages", "inbox polling list fetch received messages"),
    ("/docs/faq#how-do-i-close-my-account", "delete remove erase account user gdpr"),
    ("/docs/faq#how-large-can-a-message-be", "attachment file upload maximum size"),
    ("/docs/faq#is-it-end-to-end-encrypted", "e2e e2ee encryption privacy"),
    ("/docs/limits#limits", "rate limit throttling 429 too many requests quota price pricing"),
    ("/docs/python#sealpost-for-python", "sdk library pip pypi package install django"),
    ("/docs/receiving#retries", "backoff schedule redelivery"),
    (
        "/docs/receiving#rotating-a-secret",
        "webhook signing secret lost leaked forgotten new replace whsec",
    ),
    (
        "/docs/receiving#steps-of-a-receiver",
        "clock skew drift ntp timestamp too old replay verify signature",
    ),
    ("/docs/rust#rust-client", "sdk library cargo crate package install"),
    (
        "/docs/typescript#sealpost-for-typescript",
        "sdk library npm javascript node deno bun package install",
    ),
];
