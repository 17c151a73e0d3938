//! Decentralised identifiers (W3C DID Core 1.0) of identities and of the service itself.

use std::fmt;

use schemars::JsonSchema;
use serde::Serialize;

/// A decentralised identifier (DID). The DID of an identity is a `did:key` of its Ed25519 signing key, and never
/// changes, not even after revocation. The DID of the service is a `did:web` of its base URL.
#[derive(Clone, PartialEq, Eq, Hash, JsonSchema, Serialize)]
#[serde(transparent)]
pub struct Did(String);

impl Did {
    /// Creates a DID from a text, without validation. The wallet crate validates a DID when it verifies a signature.
    pub fn new(text: String) -> Self {
        Self(text)
    }

    /// Builds a `did:web` from the authority and the path of a URL. Ignores slashes at the start and the end of the
    /// path.
    pub fn web(authority: &str, path: &str) -> Self {
        let mut text = "did:web:".to_owned();
        escape(authority, &mut text);
        for segment in path.split('/').filter(|segment| !segment.is_empty()) {
            text.push(':');
            escape(segment, &mut text);
        }
        Self(text)
    }

    /// Returns the identifier as text, such as `did:key:z6Mk…`.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Omits the DID, so that logs identify keys only by their API key ids.
impl fmt::Debug for Did {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Did(..)")
    }
}

/// Percent-encodes all characters that the syntax of DIDs does not allow (DID Core 1.0, section 3.1). Existing escapes
/// are not encoded again.
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

    /// Tests the `did:web` of several URLs. The cases include the examples of the `did:web` specification.
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
