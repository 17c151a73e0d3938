//! Decentralised identifiers: of identities, and of the service itself.

use std::fmt;

use schemars::JsonSchema;
use serde::Serialize;

/// A decentralised identifier. An identity's is the `did:key` of its Ed25519 key: derived by the wallet, it never changes
/// and outlives revocation. The service's own is the `did:web` of its address.
#[derive(Clone, PartialEq, Eq, Hash, JsonSchema, Serialize)]
#[serde(transparent)]
pub struct Did(String);

impl Did {
    /// Wraps a text that the wallet derived or the store gave back; the wallet checks it where it is used.
    pub fn new(text: String) -> Self {
        Self(text)
    }

    /// The `did:web` of an address: its host and port, and its path without a slash at either end.
    pub fn web(authority: &str, path: &str) -> Self {
        let mut text = "did:web:".to_owned();
        escape(authority, &mut text);
        for segment in path.split('/').filter(|segment| !segment.is_empty()) {
            text.push(':');
            escape(segment, &mut text);
        }
        Self(text)
    }

    /// The whole identifier, such as `did:key:z…`.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// DIDs stay out of logs: senders are shown as API keys alone.
impl fmt::Debug for Did {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Did(..)")
    }
}

/// What may not stand in an identifier is percent-encoded; what already is, stays (DID Core, section 3.1).
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

    /// The examples of the did:web method, and what its grammar makes of other addresses.
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
