//! Envelopes with their own encapsulation. Envelopes of a channel are in `channel`.
//!
//! Sealed bytes, in order:
//! - version 1 and suite, one byte each
//! - version of the sealing key, 32 bits, big endian
//! - HPKE encapsulation, ciphertext and tag
//!
//! The first six bytes (version 1, suite and version of the sealing key) are part of `info` in HPKE's key schedule. The
//! associated data contains the ids of envelope, sender and recipient, the time, and the optional context of the
//! message (thread, message type, id of the envelope that it replies to). The sender's signature covers the hash of the
//! sealed bytes and the associated data.
//!
//! HPKE's auth mode is not used: the holder of the recipient's private key could forge envelopes of any sender to this
//! recipient. RFC 9180, section 9.1.1, advises a signature instead.

use ed25519_dalek::VerifyingKey;
use sealpost_domain::{
    ApiKeyId, Did, Envelope, EnvelopeHash, EnvelopeId, EnvelopeMeta, MessageContext, Suite,
    Timestamp,
};
use sha2::{Digest, Sha256};
use zeroize::Zeroizing;

use super::suite::{Context, SealingPublicKey};
use crate::{
    Identity, WalletError,
    entropy::Entropy,
    part_list::length_prefixed,
    signing::{did, signature},
};

/// The metadata of a new envelope. The sender's signature and the associated data cover these fields, so the envelope
/// becomes invalid if a field is changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EnvelopeDraft {
    /// Id of the envelope.
    pub id: EnvelopeId,
    /// Id of the API key that sends the envelope.
    pub sender: ApiKeyId,
    /// Id of the API key that can open the envelope.
    pub recipient: ApiKeyId,
    /// Time of sealing.
    pub timestamp: Timestamp,
    /// The thread, the message type, and the id of the envelope that the message replies to. Each is optional.
    pub context: MessageContext,
}

/// Seals a message to the recipient's key and signs the envelope as the sender. The caller must ensure that the sender
/// and the recipient's key belong to the API keys that the draft names.
pub fn seal(
    draft: &EnvelopeDraft,
    message: &[u8],
    sender: &Identity,
    recipient: &SealingPublicKey,
) -> Result<Envelope, WalletError> {
    seal_with(draft, message, sender, recipient, &mut Entropy::draw()?)
}

/// Opens an envelope as its recipient. Fails with [`WalletError::NotOpenable`] unless hash,
/// metadata, `sender`'s signature and ciphertext are all correct.
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
    let aad = EnvelopeDraft::new(&envelope.meta).associated_data();
    if !is_authentic(envelope, header.suite, &aad, &did::parse(sender).ok()?) {
        return None;
    }
    let key = recipient.sealing_key(header.suite, header.key_version).ok()?;
    key.open(&Context { info: &info(header_bytes), aad: &aad }, body)
}

/// Returns whether the hash, size and suite in the metadata match the sealed bytes, and whether `signer` signed the
/// envelope.
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
    pub(crate) fn new(meta: &EnvelopeMeta) -> Self {
        let EnvelopeMeta { id, sender, recipient, timestamp, .. } = *meta;
        Self { id, sender, recipient, timestamp, context: meta.context.clone() }
    }

    /// Returns the associated data: id, sender, recipient, time and message context. An empty context adds no bytes, as
    /// in the format before contexts existed.
    pub(crate) fn associated_data(&self) -> Vec<u8> {
        let timestamp = self.timestamp.as_millis().to_be_bytes();
        let [id, sender, recipient] =
            [self.id.as_bytes(), self.sender.as_bytes(), self.recipient.as_bytes()];
        let parts: [&[u8]; 4] = [id, sender, recipient, &timestamp];
        if self.context.is_empty() {
            return length_prefixed(&parts);
        }
        let MessageContext { thread, reply_to, message_type } = &self.context;
        let context: [&[u8]; 3] = [
            thread.as_ref().map_or(b"", |thread| thread.as_str().as_bytes()),
            reply_to.as_ref().map_or(b"", |id| id.as_bytes()),
            message_type.as_ref().map_or(b"", |name| name.as_str().as_bytes()),
        ];
        [length_prefixed(&parts), length_prefixed(&context)].concat()
    }

    /// Builds an envelope from sealed bytes and signs it as the sender.
    pub(crate) fn sign(
        &self,
        suite: Suite,
        sealed: Vec<u8>,
        aad: &[u8],
        sender: &Identity,
    ) -> Result<Envelope, WalletError> {
        let hash = hash(&sealed);
        let signature = sender.sign(&statement(&hash, aad))?;
        let Self { id, sender, recipient, timestamp, context } = self.clone();
        let payload_size_bytes = size(&sealed).ok_or(WalletError::NotSealable)?;
        let meta = EnvelopeMeta {
            id,
            sender,
            recipient,
            suite,
            hash,
            payload_size_bytes,
            timestamp,
            context,
            trace: None,
        };
        Ok(Envelope { meta, sealed, signature })
    }
}

/// The first six sealed bytes: version, suite and version of the sealing key.
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
        // Rejects an envelope of a channel, because only the secret of its channel can open it.
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

/// Returns the bytes that the sender signs. The prefix ensures that the signature is valid for envelopes only.
fn statement(hash: &EnvelopeHash, aad: &[u8]) -> Vec<u8> {
    [STATEMENT_PREFIX, &hash.0, aad].concat()
}

/// Version of the format, the first byte of all sealed bytes.
pub(crate) const VERSION: u8 = 1;
const HEADER_LEN: usize = 6;
const INFO_PREFIX: &[u8] = b"sealpost/v1/envelope";
const STATEMENT_PREFIX: &[u8] = b"sealpost/v1/envelope-signature";

#[cfg(test)]
mod tests;
