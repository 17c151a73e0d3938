//! Envelopes: a message sealed for one recipient, and what may be said about it.

use std::fmt;

use schemars::JsonSchema;
use serde::{Serialize, Serializer};

use crate::{ApiKeyId, EnvelopeId, Timestamp};

/// How an envelope is sealed. Every suite ever used opens; new envelopes are sealed in the default one, unless it is set
/// otherwise.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Suite {
    /// One encapsulation with X-Wing for many envelopes, each under a key of its own.
    Channel,
    /// HPKE with X25519.
    Classic,
    /// HPKE with X-Wing, X25519 and ML-KEM-768 at once.
    #[default]
    Hybrid,
}

impl Suite {
    /// The name that callers see.
    pub const fn algorithm(self) -> &'static str {
        match self {
            Self::Channel => "HPKE-XWing-Export-HKDF-SHA256-AES-256-GCM-Ed25519",
            Self::Classic => "HPKE-X25519-HKDF-SHA256-AES-256-GCM-Ed25519",
            Self::Hybrid => "HPKE-XWing-HKDF-SHA256-AES-256-GCM-Ed25519",
        }
    }

    /// The second byte of the sealed bytes.
    pub const fn byte(self) -> u8 {
        match self {
            Self::Classic => 1,
            Self::Hybrid => 2,
            Self::Channel => 3,
        }
    }

    /// The suite of that byte.
    pub fn from_byte(byte: u8) -> Option<Self> {
        [Self::Channel, Self::Classic, Self::Hybrid].into_iter().find(|suite| suite.byte() == byte)
    }
}

/// SHA-256 over the sealed bytes. Its text is `sha256:` and 64 hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, JsonSchema)]
#[schemars(extend("pattern" = "^sha256:[0-9a-f]{64}$"))]
pub struct EnvelopeHash(#[schemars(with = "String")] pub [u8; 32]);

impl fmt::Display for EnvelopeHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "sha256:{}", hex::encode(self.0))
    }
}

impl fmt::Debug for EnvelopeHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Serialize for EnvelopeHash {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// What may be told about an envelope; nothing of the message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EnvelopeMeta {
    /// Its id, which is the id of its notices too.
    pub id: EnvelopeId,
    /// Who sent it.
    pub sender: ApiKeyId,
    /// Whose key opens it.
    pub recipient: ApiKeyId,
    /// How it is sealed.
    pub suite: Suite,
    /// Over the sealed bytes.
    pub hash: EnvelopeHash,
    /// How many sealed bytes there are.
    pub payload_size_bytes: u64,
    /// When it was sealed; bound to it by the associated data.
    pub timestamp: Timestamp,
}

/// A sealed envelope, whole.
#[derive(Clone, PartialEq, Eq)]
pub struct Envelope {
    /// What may be told about it.
    pub meta: EnvelopeMeta,
    /// Version byte and suite byte, then what the suite needs, and the ciphertext.
    pub sealed: Vec<u8>,
    /// By the sender's DID key, over hash and associated data.
    pub signature: [u8; 64],
}

impl fmt::Debug for Envelope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Envelope").field("meta", &self.meta).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Both are stored, and told to callers: they may not change.
    #[test]
    fn suites_keep_their_bytes_and_their_names() {
        for (suite, byte, algorithm) in [
            (Suite::Classic, 1, "HPKE-X25519-HKDF-SHA256-AES-256-GCM-Ed25519"),
            (Suite::Hybrid, 2, "HPKE-XWing-HKDF-SHA256-AES-256-GCM-Ed25519"),
            (Suite::Channel, 3, "HPKE-XWing-Export-HKDF-SHA256-AES-256-GCM-Ed25519"),
        ] {
            assert_eq!((suite.byte(), suite.algorithm()), (byte, algorithm));
            assert_eq!(Suite::from_byte(byte), Some(suite));
        }
        assert!([0, 4, 255].into_iter().all(|byte| Suite::from_byte(byte).is_none()));
    }
}
