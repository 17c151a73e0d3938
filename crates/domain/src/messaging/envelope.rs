//! Envelopes: messages, each sealed for one recipient, and their public metadata.

use std::fmt;

use schemars::JsonSchema;
use serde::{Serialize, Serializer};

use crate::{ApiKeyId, ChannelId, EnvelopeId, MessageContext, Timestamp, TraceParent};

/// The cryptographic algorithms of an envelope. Envelopes of all suites can be opened. New envelopes use the default
/// suite unless the settings name another one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Suite {
    /// One X-Wing encapsulation for many envelopes (a channel). Each envelope has its own AES-256-GCM key.
    Channel,
    /// HPKE (RFC 9180) with X25519, one encapsulation per envelope.
    Classic,
    /// HPKE (RFC 9180) with X-Wing, a post-quantum hybrid of X25519 and ML-KEM-768. One encapsulation per envelope.
    #[default]
    Hybrid,
}

impl Suite {
    /// Returns the name of the suite in the API.
    pub const fn algorithm(self) -> &'static str {
        match self {
            Self::Channel => "HPKE-XWing-Export-HKDF-SHA256-AES-256-GCM-Ed25519",
            Self::Classic => "HPKE-X25519-HKDF-SHA256-AES-256-GCM-Ed25519",
            Self::Hybrid => "HPKE-XWing-HKDF-SHA256-AES-256-GCM-Ed25519",
        }
    }

    /// Returns the code of the suite, the second byte of a sealed envelope.
    pub const fn byte(self) -> u8 {
        match self {
            Self::Classic => 1,
            Self::Hybrid => 2,
            Self::Channel => 3,
        }
    }

    /// Parses the second byte of a sealed envelope. `None` if the suite is unknown.
    pub fn from_byte(byte: u8) -> Option<Self> {
        [Self::Channel, Self::Classic, Self::Hybrid].into_iter().find(|suite| suite.byte() == byte)
    }
}

/// SHA-256 over the sealed bytes of an envelope. As text: `sha256:` and 64 hexadecimal digits.
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

/// Public metadata of an envelope. Reveals nothing about the message except its size.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EnvelopeMeta {
    /// Public id of the envelope, with the prefix `env_`. The event `envelope.received` has the same id.
    pub id: EnvelopeId,
    /// The API key of the sender.
    pub sender: ApiKeyId,
    /// The API key of the recipient, the only one that can open the envelope.
    pub recipient: ApiKeyId,
    /// The cryptographic algorithms of the envelope.
    pub suite: Suite,
    /// SHA-256 over the sealed bytes.
    pub hash: EnvelopeHash,
    /// Length of the sealed bytes.
    pub payload_size_bytes: u64,
    /// Time at which the envelope was sealed. The encryption authenticates this time as part of the associated data.
    pub timestamp: Timestamp,
    /// The thread and the type of the message, and the envelope that it replies to. The encryption authenticates the
    /// context too.
    pub context: MessageContext,
    /// The distributed trace in which the message was sent. The encryption does not authenticate this field. `None` if
    /// the message belongs to no trace.
    pub trace: Option<TraceParent>,
}

impl EnvelopeMeta {
    /// Returns sample metadata. Tests and benchmarks that use this function need no change when a field is added.
    pub fn example(id: EnvelopeId, sender: ApiKeyId, recipient: ApiKeyId) -> Self {
        Self {
            id,
            sender,
            recipient,
            suite: Suite::Hybrid,
            hash: EnvelopeHash([3; 32]),
            payload_size_bytes: 4,
            timestamp: Timestamp::from_millis(1000),
            context: MessageContext::default(),
            trace: None,
        }
    }
}

/// A sealed envelope: metadata, ciphertext and signature.
#[derive(Clone, PartialEq, Eq)]
pub struct Envelope {
    /// Public metadata of the envelope.
    pub meta: EnvelopeMeta,
    /// The sealed bytes: version byte, suite byte, header of the suite, and ciphertext.
    pub sealed: Vec<u8>,
    /// Ed25519 signature over the envelope hash and the associated data, made with the sender's DID key.
    pub signature: [u8; 64],
}

impl fmt::Debug for Envelope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Envelope").field("meta", &self.meta).finish_non_exhaustive()
    }
}

/// The stored data of a channel: one key encapsulation that many envelopes of one sender to one recipient share. The
/// recipient needs this data to open these envelopes. The data contains no secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Channel {
    /// Public id of the channel, with the prefix `chn_`. The timestamp in the id is the start of the channel.
    pub id: ChannelId,
    /// The API key of the sender.
    pub sender: ApiKeyId,
    /// The API key of the recipient.
    pub recipient: ApiKeyId,
    /// Version of the recipient's sealing key (the key pair of the encapsulation), from 1.
    pub sealing_version: u32,
    /// The HPKE encapsulation: 1,120 bytes for X-Wing. With its sealing key, the recipient derives the shared secret of
    /// the channel from these bytes.
    pub encapsulation: Vec<u8>,
    /// Ed25519 signature over all fields above, made with the sender's DID key.
    pub signature: [u8; 64],
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tests that the code byte and the name of each suite never change. The bytes are stored, and the names appear in
    /// the API.
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
