//! The decentralised identifier of an identity.

use std::fmt;

use schemars::JsonSchema;
use serde::Serialize;

/// A `did:key` of an Ed25519 key. Derived by the wallet; it never changes and outlives revocation.
#[derive(Clone, PartialEq, Eq, Hash, JsonSchema, Serialize)]
#[serde(transparent)]
pub struct Did(String);

impl Did {
    /// Wraps a text that the wallet derived or the store gave back; the wallet checks it where it is used.
    pub fn new(text: String) -> Self {
        Self(text)
    }

    /// The whole identifier, `did:key:z…`.
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
