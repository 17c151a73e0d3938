//! Envelopes: a message sealed for one recipient, with its public metadata.

use std::fmt;

use schemars::JsonSchema;
use serde::{Serialize, Serializer};

use crate::{ApiKeyId, EnvelopeId, Timestamp};

/// The sealing suite of an envelope. All suites can be opened. New envelopes use the default unless
/// the settings name another one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Suite {
    /// One X-Wing encapsulation for many envelopes, with a separate AES-256-GCM key for each
    /// envelope.
    Channel,
    /// HPKE (RFC 9180) with X25519.
    Classic,
    /// HPKE (RFC 9180) with X-Wing, a hybrid of X25519 and ML-KEM-768.
    #[default]
    Hybrid,
}

impl Suite {
    /// Returns the name used in the API.
    pub const fn algorithm(self) -> &'static str {
        match self {
            Self::Channel => "HPKE-XWing-Export-HKDF-SHA256-AES-256-GCM-Ed25519",
            Self::Classic => "HPKE-X25519-HKDF-SHA256-AES-256-GCM-Ed25519",
            Self::Hybrid => "HPKE-XWing-HKDF-SHA256-AES-256-GCM-Ed25519",
        }
    }

    /// Returns the byte that encodes the suite: the second byte of a sealed envelope.
    pub const fn byte(self) -> u8 {
        match self {
            Self::Classic => 1,
            Self::Hybrid => 2,
            Self::Channel => 3,
        }
    }

    /// Parses the second byte of a sealed envelope. Returns `None` for an unknown suite.
    pub fn from_byte(byte: u8) -> Option<Self> {
        [Self::Channel, Self::Classic, Self::Hybrid].into_iter().find(|suite| suite.byte() == byte)
    }
}

/// SHA-256 over the sealed bytes. Text form: `sha256:` and 64 hexadecimal digits.
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

/// Public metadata of an envelope. It reveals nothing about the message but its size.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EnvelopeMeta {
    /// Public id, prefix `env_`. The `envelope.received` event has the same id.
    pub id: EnvelopeId,
    /// The key that sent the envelope.
    pub sender: ApiKeyId,
    /// The key that can open the envelope.
    pub recipient: ApiKeyId,
    /// Sealing suite.
    pub suite: Suite,
    /// SHA-256 over the sealed bytes.
    pub hash: EnvelopeHash,
    /// Length of the sealed bytes.
    pub payload_size_bytes: u64,
    /// Time of sealing. The associated data contains it.
    pub timestamp: Timestamp,
}

impl EnvelopeMeta {
    /// Returns metadata for tests and benchmarks, which then need no change for a new field.
    pub fn example(id: EnvelopeId, sender: ApiKeyId, recipient: ApiKeyId) -> Self {
        Self {
            id,
            sender,
            recipient,
            suite: Suite::Hybrid,
            hash: EnvelopeHash([3; 32]),
            payload_size_bytes: 4,
            timestamp: Timestamp::from_millis(1000),
        }
    }
}

/// A complete sealed envelope.
#[derive(Clone, PartialEq, Eq)]
pub struct Envelope {
    /// Public metadata.
    pub meta: EnvelopeMeta,
    /// Version byte, suite byte, suite header and ciphertext.
    pub sealed: Vec<u8>,
    /// Ed25519 signature of the sender's DID key over the hash and the associated data.
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

    /// Both values are stored and appear in the API, so they must not change.
    #[test]
    fn suites_keep_their_bytes_and_names() {
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
