//! Envelopes that carry an encapsulation of their own; those of a channel are in `channel`. Sealed bytes are
//! `[version = 1][suite][version of the sealing key, 32 bits]`, then encapsulation, ciphertext and tag of HPKE. The key
//! schedule takes those six bytes in, and the associated data names envelope, sender, recipient and time. The sender's
//! signature stands beside the sealed bytes and covers their hash and the associated data (RFC 9180, section 9.1.1,
//! advises to sign where auth mode's limits matter): HPKE's own auth mode would let whoever holds the recipient's key
//! forge any sender.

use ed25519_dalek::VerifyingKey;
use sealpost_domain::{
    ApiKeyId, Did, Envelope, EnvelopeHash, EnvelopeId, EnvelopeMeta, Suite, Timestamp,
};
use sha2::{Digest, Sha256};
use zeroize::Zeroizing;

use crate::{
    Identity, SealingPublicKey, WalletError, binding::length_prefixed, did, entropy::Entropy,
    signature, suite::Context,
};

/// What an envelope says about itself, bound to it for good.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EnvelopeDraft {
    /// Its id.
    pub id: EnvelopeId,
    /// Who sends it.
    pub sender: ApiKeyId,
    /// Whose key opens it.
    pub recipient: ApiKeyId,
    /// When it is sealed.
    pub timestamp: Timestamp,
}

/// Seals a message to the recipient's key and signs it as the sender. Whether the identities are those of the
/// draft's API keys is the caller's to know.
pub fn seal(
    draft: &EnvelopeDraft,
    message: &[u8],
    sender: &Identity,
    recipient: &SealingPublicKey,
) -> Result<Envelope, WalletError> {
    seal_with(draft, message, sender, recipient, &mut Entropy::draw()?)
}

/// Opens an envelope as its recipient, once it is certain that it is whole, is the envelope that its metadata tells
/// of, and was signed by `sender`; [`WalletError::NotOpenable`] where anything of that does not hold.
pub fn open(
    envelope: &Envelope,
    recipient: &Identity,
    sender: &Did,
) -> Result<Zeroizing<Vec<u8>>, WalletError> {
    try_open(envelope, recipient, sender).ok_or(WalletError::NotOpenable)
}

fn seal_with(
    draft: &EnvelopeDraft,
    message: &[u8],
    sender: &Identity,
    recipient: &SealingPublicKey,
    entropy: &mut Entropy,
) -> Result<Envelope, WalletError> {
    let header = Header { suite: recipient.suite(), key_version: recipient.version() }.to_bytes();
    let aad = draft.associated_data();
    let context = Context { info: &info(header), aad: &aad };
    let sealed =
        recipient.seal(&header, &context, message, entropy).ok_or(WalletError::NotSealable)?;
    draft.sign(recipient.suite(), sealed, &aad, sender)
}

fn try_open(envelope: &Envelope, recipient: &Identity, sender: &Did) -> Option<Zeroizing<Vec<u8>>> {
    let (&header_bytes, body) = envelope.sealed.split_first_chunk()?;
    let header = Header::parse(header_bytes)?;
    let aad = EnvelopeDraft::of(&envelope.meta).associated_data();
    if !is_authentic(envelope, header.suite, &aad, &did::parse(sender).ok()?) {
        return None;
    }
    let key = recipient.sealing_key(header.suite, header.key_version).ok()?;
    key.open(&Context { info: &info(header_bytes), aad: &aad }, body)
}

/// Whether the sealed bytes are those that the metadata tells of, are of this suite, and were signed with this key.
pub(crate) fn is_authentic(
    envelope: &Envelope,
    suite: Suite,
    aad: &[u8],
    signer: &VerifyingKey,
) -> bool {
    let Envelope { meta, sealed, signature } = envelope;
    hash(sealed) == meta.hash
        && size(sealed) == Some(meta.payload_size_bytes)
        && suite == meta.suite
        && signature::is_valid(signer, &statement(&meta.hash, aad), signature)
}

impl EnvelopeDraft {
    pub(crate) fn of(meta: &EnvelopeMeta) -> Self {
        let EnvelopeMeta { id, sender, recipient, timestamp, .. } = *meta;
        Self { id, sender, recipient, timestamp }
    }

    pub(crate) fn associated_data(&self) -> Vec<u8> {
        length_prefixed(&[
            self.id.as_bytes(),
            self.sender.as_bytes(),
            self.recipient.as_bytes(),
            &self.timestamp.as_millis().to_be_bytes(),
        ])
    }

    /// The envelope that these sealed bytes make, with the sender's signature.
    pub(crate) fn sign(
        &self,
        suite: Suite,
        sealed: Vec<u8>,
        aad: &[u8],
        sender: &Identity,
    ) -> Result<Envelope, WalletError> {
        let hash = hash(&sealed);
        let signature = sender.sign(&statement(&hash, aad))?;
        let Self { id, sender, recipient, timestamp } = *self;
        let payload_size_bytes = size(&sealed).ok_or(WalletError::NotSealable)?;
        let meta =
            EnvelopeMeta { id, sender, recipient, suite, hash, payload_size_bytes, timestamp };
        Ok(Envelope { meta, sealed, signature })
    }
}

/// How the rest of the sealed bytes is to be read.
struct Header {
    suite: Suite,
    key_version: u32,
}

impl Header {
    fn to_bytes(&self) -> [u8; HEADER_LEN] {
        let [a, b, c, d] = self.key_version.to_be_bytes();
        [VERSION, self.suite.byte(), a, b, c, d]
    }

    fn parse(bytes: [u8; HEADER_LEN]) -> Option<Self> {
        let [VERSION, suite, a, b, c, d] = bytes else {
            return None;
        };
        let key_version = u32::from_be_bytes([a, b, c, d]);
        // What was sealed in a channel opens with its channel alone.
        let suite = Suite::from_byte(suite).filter(|suite| *suite != Suite::Channel)?;
        Some(Self { suite, key_version })
    }
}

fn hash(sealed: &[u8]) -> EnvelopeHash {
    EnvelopeHash(Sha256::digest(sealed).into())
}

fn size(sealed: &[u8]) -> Option<u64> {
    u64::try_from(sealed.len()).ok()
}

fn info(header: [u8; HEADER_LEN]) -> Vec<u8> {
    [INFO_PREFIX, &header].concat()
}

/// What the sender signs. Its first words keep the signature from meaning anything elsewhere.
fn statement(hash: &EnvelopeHash, aad: &[u8]) -> Vec<u8> {
    [STATEMENT_PREFIX, &hash.0, aad].concat()
}

/// The first of all sealed bytes.
pub(crate) const VERSION: u8 = 1;
const HEADER_LEN: usize = 6;
const INFO_PREFIX: &[u8] = b"sealpost/v1/envelope";
const STATEMENT_PREFIX: &[u8] = b"sealpost/v1/envelope-signature";

#[cfg(test)]
#[path = "sealing_tests.rs"]
mod tests;
