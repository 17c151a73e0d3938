//! Channels: one encapsulation to the recipient's X-Wing key, signed by the sender, for many envelopes. `docs/sealing.md`
//! argues for all of it.
//!
//! Sealed bytes are `[version = 1][suite = 3][channel's id, 16 bytes][number, 32 bits]`, then ciphertext and tag of
//! AES-256-GCM. The key is HKDF-Expand of the channel's secret and the envelope's id. The nonce is the envelope's number
//! in its channel, which a counter gives out and nobody else: so a key and a nonce come together once, even if ids
//! should repeat. The associated data is that of every envelope, and the channel's digest.

mod bond;
mod cipher;

use std::{
    fmt,
    sync::atomic::{AtomicU32, Ordering},
};

use ed25519_dalek::VerifyingKey;
use sealpost_domain::{ApiKeyId, Channel, ChannelId, Did, Envelope, Suite};
use zeroize::Zeroizing;

use self::{
    bond::{Bond, info},
    cipher::{Header, cipher, decrypt, encrypt},
};
use crate::{
    EnvelopeDraft, Identity, SealingPublicKey, WalletError, did, entropy::Entropy,
    sealing::is_authentic, signature, suite::Secret,
};

/// What a channel says about itself, bound to it for good.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChannelDraft {
    /// Its id.
    pub id: ChannelId,
    /// Who seals envelopes under it.
    pub sender: ApiKeyId,
    /// Whose key opens them.
    pub recipient: ApiKeyId,
}

/// The sender's side. It cannot be written down or made again: what it has sealed, only the recipient opens, and the
/// count of its envelopes is in no other place. Wiped when dropped.
pub struct ChannelSender {
    bond: Bond,
    secret: Secret,
    sealed: AtomicU32,
    envelopes_max: u32,
}

/// The recipient's side of a channel whose signature holds. Wiped when dropped.
pub struct ChannelReceiver {
    bond: Bond,
    secret: Secret,
    signer: VerifyingKey,
}

/// The channel that an envelope of the channel suite was sealed under.
pub fn channel_of(envelope: &Envelope) -> Option<ChannelId> {
    let (header, _) = envelope.sealed.split_first_chunk()?;
    Header::parse(*header).map(|header| header.channel)
}

impl ChannelSender {
    /// Begins a channel that seals at most so many envelopes, and tells what of it is to be stored. Whether the
    /// identities are those of the draft's API keys is the caller's to know.
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
        let bond = Bond::of(draft, sealing_version, &encapsulation);
        let signature = sender.sign(&bond.statement())?;
        let channel =
            Channel { id, sender: from, recipient: to, sealing_version, encapsulation, signature };
        Ok((Self { bond, secret, sealed: AtomicU32::new(0), envelopes_max }, channel))
    }

    /// The version of the recipient's key that it was begun with.
    pub fn sealing_version(&self) -> u32 {
        self.bond.sealing_version
    }

    /// Whether it has sealed all that it may.
    pub fn is_exhausted(&self) -> bool {
        self.sealed.load(Ordering::Relaxed) >= self.envelopes_max
    }

    /// Seals a message and signs it as the sender. A draft of another pair is [`WalletError::NotSealable`]; a channel
    /// that has sealed all that it may is [`WalletError::ChannelExhausted`].
    pub fn seal(
        &self,
        draft: &EnvelopeDraft,
        message: &[u8],
        sender: &Identity,
    ) -> Result<Envelope, WalletError> {
        if !self.bond.is_between(&draft.sender, &draft.recipient) {
            return Err(WalletError::NotSealable);
        }
        let header = Header { channel: self.bond.draft.id, number: self.next_number()? };
        let aad = self.bond.associated_data(draft);
        let cipher = cipher(&self.secret, &draft.id).ok_or(WalletError::NotSealable)?;
        let sealed = encrypt(&cipher, &header, &aad, message).ok_or(WalletError::NotSealable)?;
        draft.sign(Suite::Channel, sealed, &aad, sender)
    }

    /// Every number once, whichever thread asks, and none past the last.
    fn next_number(&self) -> Result<u32, WalletError> {
        let next = |sealed| (sealed < self.envelopes_max).then(|| sealed + 1);
        let number = self.sealed.fetch_update(Ordering::Relaxed, Ordering::Relaxed, next);
        number.ok().ok_or(WalletError::ChannelExhausted)
    }
}

impl ChannelReceiver {
    /// The recipient's side of a stored channel, once it is certain that `sender` signed it as it is;
    /// [`WalletError::NotOpenable`] where that does not hold.
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
        let bond = Bond::of(&draft, sealing_version, &channel.encapsulation);
        let signer = did::parse(sender).ok()?;
        if !signature::is_valid(&signer, &bond.statement(), &channel.signature) {
            return None;
        }
        let key = recipient.sealing_key(Suite::Channel, sealing_version).ok()?;
        let info = info(&draft, sealing_version);
        let secret = key.decapsulate(&info, EXPORTER_CONTEXT, &channel.encapsulation)?;
        Some(Self { bond, secret, signer })
    }

    /// Opens an envelope of this channel, once it is certain that it is whole, is the envelope that its metadata tells
    /// of, and was signed by the channel's sender; [`WalletError::NotOpenable`] where anything of that does not hold.
    pub fn open(&self, envelope: &Envelope) -> Result<Zeroizing<Vec<u8>>, WalletError> {
        self.try_open(envelope).ok_or(WalletError::NotOpenable)
    }

    fn try_open(&self, envelope: &Envelope) -> Option<Zeroizing<Vec<u8>>> {
        let (header_bytes, body) = envelope.sealed.split_first_chunk()?;
        let header = Header::parse(*header_bytes)?;
        let draft = EnvelopeDraft::of(&envelope.meta);
        let is_of_this = header.channel == self.bond.draft.id
            && self.bond.is_between(&draft.sender, &draft.recipient);
        let aad = self.bond.associated_data(&draft);
        if !is_of_this || !is_authentic(envelope, Suite::Channel, &aad, &self.signer) {
            return None;
        }
        decrypt(&cipher(&self.secret, &draft.id)?, &header, &aad, body)
    }
}

impl fmt::Debug for ChannelSender {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ChannelSender").field("draft", &self.bond.draft).finish_non_exhaustive()
    }
}

impl fmt::Debug for ChannelReceiver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ChannelReceiver").field("draft", &self.bond.draft).finish_non_exhaustive()
    }
}

const EXPORTER_CONTEXT: &[u8] = b"sealpost/v1/channel-secret";

#[cfg(test)]
#[path = "channel_tests.rs"]
mod tests;
