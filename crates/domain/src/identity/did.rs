//! Decentralised identifiers (W3C DID Core 1.0) of identities and of the service.

use std::fmt;

use schemars::JsonSchema;
use serde::Serialize;

/// A decentralised identifier. For an identity it is the `did:key` of the Ed25519 signing key. The
/// wallet derives it; it never changes, not even after revocation. For the service it is the
/// `did:web` of its base URL.
#[derive(Clone, PartialEq, Eq, Hash, JsonSchema, Serialize)]
#[serde(transparent)]
pub struct Did(String);

impl Did {
    /// Wraps a text without validation. The wallet validates a DID when it verifies a signature.
    pub fn new(text: String) -> Self {
        Self(text)
    }

    /// Builds the `did:web` of a URL's authority and path. Slashes at either end of the path are
    /// ignored.
    pub fn web(authority: &str, path: &str) -> Self {
        let mut text = "did:web:".to_owned();
        escape(authority, &mut text);
        for segment in path.split('/').filter(|segment| !segment.is_empty()) {
            text.push(':');
            escape(segment, &mut text);
        }
        Self(text)
    }

    /// Returns the whole identifier, such as `did:key:z6Mk…`.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Omits the DID. Logs identify keys by their API key ids only.
impl fmt::Debug for Did {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Did(..)")
    }
}

/// Percent-encodes characters that DID syntax does not allow. Existing escapes stay (DID Core 1.0,
/// section 3.1).
fn escape(part: &str, text: &mut String) {
    for byte in part.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._%".contains(&byte) {
            text.push(char::from(byte));
        } else {
            text.push('%');
            text.push_str(&hex::encode_upper([byte]));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Contains the examples of the did:web method, and other addresses under the same grammar.
    #[test]
    fn an_address_has_one_did_web() {
        for (authority, path, did) in [
            ("w3c-ccg.github.io", "", "did:web:w3c-ccg.github.io"),
            ("w3c-ccg.github.io", "/user/alice/", "did:web:w3c-ccg.github.io:user:alice"),
            ("example.com:3000", "/user/alice", "did:web:example.com%3A3000:user:alice"),
            ("127.0.0.1:8080", "/", "did:web:127.0.0.1%3A8080"),
            ("[::1]:80", "", "did:web:%5B%3A%3A1%5D%3A80"),
            ("example.com", "a%20b/c~d", "did:web:example.com:a%20b:c%7Ed"),
        ] {
            assert_eq!(Did::web(authority, path).as_str(), did);
        }
    }
}
