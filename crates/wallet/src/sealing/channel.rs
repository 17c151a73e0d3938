//! Channels. A channel is one key encapsulation to the recipient's X-Wing key, signed by the sender. The keys of many
//! envelopes derive from this encapsulation. `docs/sealing.md` explains the design.
//!
//! Sealed bytes, in order:
//! - version 1 and suite 3, one byte each
//! - channel id, 16 bytes
//! - number of the envelope in its channel, 32 bits, big endian
//! - AES-256-GCM ciphertext and tag
//!
//! The key of an envelope is HKDF-Expand (RFC 5869) of the channel's secret and the envelope's id. The nonce is the
//! envelope's number. An atomic counter issues each number once, so no key is used twice with the same nonce, even if
//! an id repeats. The associated data is the same as that of an envelope without a channel, followed by the channel's
//! digest. The digest is the SHA-256 of all stored fields of the channel except the signature.

mod binding;
mod cipher;

use std::sync::atomic::{AtomicU32, Ordering};

use ed25519_dalek::VerifyingKey;
use sealpost_domain::{Channel, ChannelId, Did, Envelope, Suite};
use zeroize::Zeroizing;

pub use self::binding::ChannelDraft;
use self::{
    binding::{ChannelBinding, info},
    cipher::{Header, cipher, decrypt, encrypt},
};
use super::{
    envelope::{EnvelopeDraft, is_authentic},
    suite::{SealingPublicKey, exporter::ChannelSecret},
};
use crate::{
    Identity, WalletError,
    entropy::Entropy,
    signing::{did, signature},
};

/// The sender's side of a channel. Zeroized on drop.
///
/// A `ChannelSender` exists only in memory. If its secret were stored, the sender could open its own envelopes later.
/// The counter of envelopes is not stored either, so a restart ends all channels of the process.
pub struct ChannelSender {
    binding: ChannelBinding,
    secret: ChannelSecret,
    sealed: AtomicU32,
    envelopes_max: u32,
}

/// The recipient's side of a channel. A `ChannelReceiver` exists only if the sender's signature of the channel is
/// valid. Zeroized on drop.
pub struct ChannelReceiver {
    binding: ChannelBinding,
    secret: ChannelSecret,
    signer: VerifyingKey,
}

/// Returns the id of the channel that an envelope belongs to; `None` if the envelope has an encapsulation of its own.
pub fn channel_of(envelope: &Envelope) -> Option<ChannelId> {
    let (header, _) = envelope.sealed.split_first_chunk()?;
    Header::parse(*header).map(|header| header.channel)
}

impl ChannelSender {
    /// Begins a channel for at most `envelopes_max` envelopes. Also returns the [`Channel`], which the caller must
    /// store: the recipient needs it to open the envelopes.
    ///
    /// Fails with [`WalletError::NotSealable`] if `recipient` is not an X-Wing key. The caller must ensure that
    /// `sender` and `recipient` belong to the API keys in the draft.
    pub fn begin(
        draft: &ChannelDraft,
        envelopes_max: u32,
        sender: &Identity,
        recipient: &SealingPublicKey,
    ) -> Result<(Self, Channel), WalletError> {
        Self::begin_with(draft, envelopes_max, sender, recipient, &mut Entropy::draw()?)
    }

    fn begin_with(
        draft: &ChannelDraft,
        envelopes_max: u32,
        sender: &Identity,
        recipient: &SealingPublicKey,
        entropy: &mut Entropy,
    ) -> Result<(Self, Channel), WalletError> {
        let ChannelDraft { id, sender: from, recipient: to } = *draft;
        let sealing_version = recipient.version();
        let (encapsulation, secret) = recipient
            .encapsulate(&info(draft, sealing_version), EXPORTER_CONTEXT, entropy)
            .ok_or(WalletError::NotSealable)?;
        let binding = ChannelBinding::new(draft, sealing_version, &encapsulation);
        let signature = sender.sign(&binding.statement())?;
        let channel =
            Channel { id, sender: from, recipient: to, sealing_version, encapsulation, signature };
        Ok((Self { binding, secret, sealed: AtomicU32::new(0), envelopes_max }, channel))
    }

    /// Returns the version of the recipient's sealing key for which the channel began.
    pub fn sealing_version(&self) -> u32 {
        self.binding.sealing_version
    }

    /// Returns whether the channel has sealed `envelopes_max` envelopes.
    pub fn is_exhausted(&self) -> bool {
        self.sealed.load(Ordering::Relaxed) >= self.envelopes_max
    }

    /// Seals a message and signs the envelope as the sender. Fails with [`WalletError::NotSealable`] if the draft names
    /// another sender or recipient than the channel. Fails with [`WalletError::ChannelExhausted`] after `envelopes_max`
    /// envelopes.
    pub fn seal(
        &self,
        draft: &EnvelopeDraft,
        message: &[u8],
        sender: &Identity,
    ) -> Result<Envelope, WalletError> {
        if !self.binding.is_between(&draft.sender, &draft.recipient) {
            return Err(WalletError::NotSealable);
        }
        let header = Header { channel: self.binding.draft.id, number: self.next_number()? };
        let aad = self.binding.associated_data(draft);
        let cipher = cipher(&self.secret, &draft.id).ok_or(WalletError::NotSealable)?;
        let sealed = encrypt(&cipher, &header, &aad, message).ok_or(WalletError::NotSealable)?;
        draft.sign(Suite::Channel, sealed, &aad, sender)
    }

    /// Returns the number of the next envelope. Concurrent threads get different numbers. Fails after `envelopes_max`
    /// numbers.
    fn next_number(&self) -> Result<u32, WalletError> {
        let next = |sealed| (sealed < self.envelopes_max).then(|| sealed + 1);
        let number = self.sealed.fetch_update(Ordering::Relaxed, Ordering::Relaxed, next);
        number.ok().ok_or(WalletError::ChannelExhausted)
    }
}

impl ChannelReceiver {
    /// Derives the secret of a stored channel as its recipient. Fails with [`WalletError::NotOpenable`] unless `sender`
    /// signed exactly this channel.
    pub fn accept(
        channel: &Channel,
        recipient: &Identity,
        sender: &Did,
    ) -> Result<Self, WalletError> {
        Self::try_accept(channel, recipient, sender).ok_or(WalletError::NotOpenable)
    }

    fn try_accept(channel: &Channel, recipient: &Identity, sender: &Did) -> Option<Self> {
        let Channel { id, sender: from, recipient: to, sealing_version, .. } = *channel;
        let draft = ChannelDraft { id, sender: from, recipient: to };
        let binding = ChannelBinding::new(&draft, sealing_version, &channel.encapsulation);
        let signer = did::parse(sender).ok()?;
        if !signature::is_valid(&signer, &binding.statement(), &channel.signature) {
            return None;
        }
        let key = recipient.sealing_key(Suite::Channel, sealing_version).ok()?;
        let info = info(&draft, sealing_version);
        let secret = key.decapsulate(&info, EXPORTER_CONTEXT, &channel.encapsulation)?;
        Some(Self { binding, secret, signer })
    }

    /// Opens an envelope of this channel. Fails with [`WalletError::NotOpenable`] unless hash,
    /// metadata, signature and ciphertext are all correct.
    pub fn open(&self, envelope: &Envelope) -> Result<Zeroizing<Vec<u8>>, WalletError> {
        self.try_open(envelope).ok_or(WalletError::NotOpenable)
    }

    fn try_open(&self, envelope: &Envelope) -> Option<Zeroizing<Vec<u8>>> {
        let (header_bytes, body) = envelope.sealed.split_first_chunk()?;
        let header = Header::parse(*header_bytes)?;
        let draft = EnvelopeDraft::new(&envelope.meta);
        let is_of_this = header.channel == self.binding.draft.id
            && self.binding.is_between(&draft.sender, &draft.recipient);
        let aad = self.binding.associated_data(&draft);
        if !is_of_this || !is_authentic(envelope, Suite::Channel, &aad, &self.signer) {
            return None;
        }
        decrypt(&cipher(&self.secret, &draft.id)?, &header, &aad, body)
    }
}

const EXPORTER_CONTEXT: &[u8] = b"sealpost/v1/channel-secret";

#[cfg(test)]
mod tests;
