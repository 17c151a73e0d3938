//! Converts the links between files of the repository to links between the pages of the service.

use super::{FILES, all};

/// Returns the path of the page or file that a link leads to, with its anchor. `source` is the path of the file that
/// contains the link. Links to other sites and within a page stay the same. Returns `None` if the service has no such
/// page.
pub(super) fn target(source: &str, link: &str) -> Option<String> {
    if link.starts_with('#') || is_external(link) {
        return Some(link.to_owned());
    }
    let (path, anchor) = link.split_once('#').map_or((link, None), |(path, end)| (path, Some(end)));
    let path = joined(source, path);
    if path == "docs/errors.md" {
        let code = anchor.map(str::to_ascii_uppercase);
        return Some(
            code.map_or_else(|| "/docs/errors".to_owned(), |code| format!("/docs/errors/{code}")),
        );
    }
    if path == "README.md" {
        return Some("/".to_owned());
    }
    if path == "docs" {
        return Some("/docs".to_owned());
    }
    let anchor = anchor.map(|anchor| format!("#{anchor}")).unwrap_or_default();
    if let Some(guide) = all().find(|guide| guide.source == path) {
        return Some(format!("/docs/{}{anchor}", guide.name));
    }
    if FILES.iter().any(|file| file.path == path) {
        return Some(format!("/{path}"));
    }
    let folder = format!("{path}/");
    let is_folder = FILES.iter().any(|file| file.path.starts_with(&folder));
    is_folder.then(|| format!("/docs/files#{}", folder_anchor(&path)))
}

/// Returns true if a link leads to another site.
pub(super) fn is_external(link: &str) -> bool {
    link.starts_with("https://") || link.starts_with("http://")
}

/// Returns the anchor of a folder on the page that lists all files.
pub(super) fn folder_anchor(folder: &str) -> String {
    folder.trim_start_matches("docs/").replace('/', "-")
}

/// Resolves a relative path against the folder of `source`.
fn joined(source: &str, path: &str) -> String {
    let mut parts: Vec<&str> = source.split('/').collect();
    parts.pop();
    for part in path.trim_end_matches('/').split('/') {
        match part {
            ".." => drop(parts.pop()),
            "." => {}
            name => parts.push(name),
        }
    }
    parts.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_between_files_become_links_between_pages() {
        for (source, link, page) in [
            ("docs/sending.md", "limits.md", Some("/docs/limits")),
            (
                "docs/sending.md",
                "limits.md#reaching-a-limit",
                Some("/docs/limits#reaching-a-limit"),
            ),
            ("docs/sending.md", "#here", Some("#here")),
            ("docs/sending.md", "https://example.org/x.md", Some("https://example.org/x.md")),
            ("docs/sending.md", "../SECURITY.md", Some("/docs/security")),
            ("SECURITY.md", "docs/trust.md", Some("/docs/trust")),
            ("clients/python/README.md", "../../README.md", Some("/")),
            (
                "clients/python/README.md",
                "../README.md#first-steps",
                Some("/docs/clients#first-steps"),
            ),
            ("docs/sending.md", "errors.md", Some("/docs/errors")),
            ("docs/sending.md", "errors.md#key_inactive", Some("/docs/errors/KEY_INACTIVE")),
            ("docs/operating.md", "operating/alerts.yml", Some("/docs/operating/alerts.yml")),
            ("docs/receiving.md", "examples/receiving", Some("/docs/files#examples-receiving")),
            ("docs/receiving.md", "examples/opening/go/", Some("/docs/files#examples-opening-go")),
            ("clients/README.md", "../docs", Some("/docs")),
            ("docs/receiving.md", "nowhere.md", None),
            ("docs/receiving.md", "../deny.toml", None),
        ] {
            assert_eq!(target(source, link).as_deref(), page, "{link} in {source}");
        }
    }
}
