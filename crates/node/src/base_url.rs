//! The address that callers know, checked before anything starts: links lead to it, and the service's own DID is made
//! from it.

use sealpost_domain::Did;
use url::{Position, Url};

use crate::error::{Failure, NodeError};

/// An http or https address, without a slash at its end.
#[derive(Debug, Clone)]
pub struct BaseUrl {
    text: String,
    did: Did,
}

impl BaseUrl {
    /// What was given, or the listening address.
    pub fn new(given: Option<&str>, listening: &str) -> Result<Self, NodeError> {
        Self::parse(given.unwrap_or(listening))
    }

    fn parse(text: &str) -> Result<Self, NodeError> {
        Self::read(text).ok_or_else(|| {
            NodeError::Setting(Failure::new(format!(
                "--base-url {text} is no address of a service; give one such as https://seal.example.org, \
                 without user, query and fragment"
            )))
        })
    }

    fn read(text: &str) -> Option<Self> {
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

    /// Without a slash at its end.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The service's own DID.
    pub fn did(&self) -> &Did {
        &self.did
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_kept_without_its_last_slash_and_has_a_did() {
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
    fn what_is_no_address_of_a_service_is_refused() {
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
            assert!(BaseUrl::parse(text).is_err(), "{text}");
        }
    }
}
