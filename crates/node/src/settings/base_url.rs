//! The public URL of the service. Links start with this URL, and the DID of the service is derived from it.

use sealpost_domain::Did;
use url::{Position, Url};

use crate::error::NodeError;

/// A public URL with the scheme http or https, without a trailing slash, and the DID derived from it.
#[derive(Debug, Clone)]
pub struct BaseUrl {
    text: String,
    did: Did,
}

impl BaseUrl {
    /// Parses the configured URL, or the listening address if no URL is configured. Fails if the scheme is not http or
    /// https. Also fails if the URL has a user, a query, a fragment, or `//` in its path.
    pub fn new(configured: Option<&str>, listening: &str) -> Result<Self, NodeError> {
        let text = configured.unwrap_or(listening);
        Self::parse(text).ok_or_else(|| {
            // A text with a user can contain a password, which the message must not repeat.
            let given = if text.contains('@') { String::new() } else { format!(" {text}") };
            NodeError::new(format!(
                "--base-url{given} is not the URL of a service: give a URL such as https://seal.example.org, \
                 without user, query and fragment"
            ))
        })
    }

    /// Parses a URL. Returns `None` in the cases in which [`Self::new`] fails.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let url = Url::parse(text).ok()?;
        let is_plain = url.username().is_empty()
            && url.password().is_none()
            && url.query().is_none()
            && url.fragment().is_none();
        if !is_plain || !matches!(url.scheme(), "http" | "https") || url.path().contains("//") {
            return None;
        }
        let did = Did::web(&url[Position::BeforeHost..Position::AfterPort], url.path());
        Some(Self { text: url.as_str().trim_end_matches('/').to_owned(), did })
    }

    /// Returns the URL without a trailing slash.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns the service's own DID.
    pub fn did(&self) -> &Did {
        &self.did
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_loses_its_trailing_slash_and_has_a_did() {
        for (text, kept, did) in [
            ("https://Seal.example.org/", "https://seal.example.org", "did:web:seal.example.org"),
            ("https://example.org:443", "https://example.org", "did:web:example.org"),
            (
                "https://example.org:8443/a/b/",
                "https://example.org:8443/a/b",
                "did:web:example.org%3A8443:a:b",
            ),
        ] {
            let url = BaseUrl::parse(text).unwrap();
            assert_eq!((url.as_str(), url.did().as_str()), (kept, did));
        }
        let listening = BaseUrl::new(None, "http://[::1]:80").unwrap();
        assert_eq!(listening.as_str(), "http://[::1]");
    }

    #[test]
    fn a_text_that_is_not_the_url_of_a_service_is_rejected() {
        for text in [
            "",
            "seal.example.org",
            "ftp://example.org",
            "https://",
            "https://user@example.org",
            "https://example.org/?a",
            "https://example.org/#a",
            "https://example.org/a//b",
        ] {
            assert!(BaseUrl::new(Some(text), "").is_err(), "{text}");
        }
    }
}
