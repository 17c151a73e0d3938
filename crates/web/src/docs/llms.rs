//! `/llms.txt`: the list of all documentation pages as Markdown, for language models (<https://llmstxt.org>).

use std::fmt::Write as _;

use super::guides;
use crate::html::SiteAddress;

/// The path of the list.
pub(super) const PATH: &str = "/llms.txt";

/// Returns the list. Its links are absolute.
pub(super) fn list(site: &SiteAddress) -> String {
    let base = &site.base_url;
    let mut list = HEAD.to_owned();
    for group in guides::GROUPS {
        // Writing to a string cannot fail.
        write!(list, "\n## {}\n\n", group.title).unwrap_or_default();
        for guide in group.guides {
            let (title, path, about) = (guide.title(), guide.path(), guide.about);
            writeln!(list, "- [{title}]({base}{path}): {about}").unwrap_or_default();
        }
    }
    list.push_str("\n## Reference\n\n");
    for (title, path, about) in REFERENCE {
        writeln!(list, "- [{title}]({base}{path}): {about}").unwrap_or_default();
    }
    list
}

const HEAD: &str = "\
# Sealpost

> Sealpost gives each user or service a decentralised identifier (DID) and one API key. It seals messages between \
these identities, and reports each message to its recipient by a signed webhook.

Callers use JSON over HTTPS. They hold no key material. Each error response has a code with a page of its own.
";
const REFERENCE: [(&str, &str, &str); 4] = [
    (
        "OpenAPI document",
        "/openapi.json",
        "Each endpoint and event, for programs and client generators.",
    ),
    ("API reference", "/docs/reference", "Each endpoint, with its fields, examples and errors."),
    ("Errors", "/docs/errors", "Each error code: its causes, the fix, and whether to retry."),
    ("Files", "/docs/files", "Complete example programs, settings for operators, test vectors."),
];
