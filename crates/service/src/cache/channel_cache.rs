//! Caches the secrets of channels. A channel is one key encapsulation that many envelopes from a sender to a recipient
//! share. A node caches the sender's secret of each channel that it began, and the recipient's secret of each channel
//! whose envelopes it opened.
//!
//! These secrets exist only in memory. They are wiped:
//!
//! - at the end of the channel's lifetime
//! - when the key of the sender or the recipient is no longer active
//! - when the service stops
//!
//! The sender's secret is also wiped after the last envelope, and when the sealing key of sender or recipient changes.

use std::sync::Arc;

use sealpost_domain::{
    ApiKeyId, Channel, ChannelId, Did, Envelope, KeyStatus, Timestamp, ports::KeySnapshot,
};
use sealpost_wallet::{
    ChannelDraft, ChannelReceiver, ChannelSender, EnvelopeDraft, Identity, SealingPublicKey,
    WalletError, chain_hash, random,
};

use super::{
    cached_key::KeyMaterial,
    secret_vault::{SecretVault, VaultKey},
};
use crate::settings::Settings;

/// The channels with secrets in the memory of this node.
pub(crate) struct ChannelCache {
    open: SecretVault<KeyPair, OpenChannel>,
    accepted: SecretVault<ChannelRow, ChannelReceiver>,
    envelopes_max: u32,
}

/// The sender's side of a channel, with the secret that seals envelopes.
pub(crate) struct OpenChannel {
    sender: ChannelSender,
    /// The version of the sender's own sealing key when the channel began. If the version changes, the channel is not
    /// used.
    sender_version: u32,
    /// The database row of the channel. Each envelope carries the row to the database, which stores it if it is
    /// missing. No flag records that the row is stored, because a failover that loses data can remove the row.
    row: Arc<Channel>,
}

/// The sender and the recipient of a channel.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct KeyPair {
    sender: ApiKeyId,
    recipient: ApiKeyId,
}

/// Identifies a stored channel by its parties and the hash of its row. A changed row has another hash, so its signature
/// is verified again.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct ChannelRow {
    pair: KeyPair,
    hash: [u8; 32],
}

impl ChannelCache {
    pub(super) fn new(settings: &Settings) -> Self {
        let (max, life) =
            (settings.channels_cached_max, settings.channel_life.min(Settings::CHANNEL_LIFE_MAX));
        Self {
            open: SecretVault::new(max, life),
            accepted: SecretVault::new(max, life),
            envelopes_max: settings.channel_envelopes_max,
        }
    }

    /// Seals a message under the current channel from sender to recipient, and returns the envelope with its channel.
    /// Begins a new channel if none is cached, or if a sealing key of either party has changed. Fails with
    /// [`WalletError::ChannelExhausted`] if concurrent sends use up the channel in each of [`TRIES_MAX`] tries.
    pub(crate) fn seal(
        &self,
        draft: &EnvelopeDraft,
        message: &[u8],
        from: &KeyMaterial,
        to: &SealingPublicKey,
    ) -> Result<(Envelope, Arc<OpenChannel>), WalletError> {
        let (pair, now) = (KeyPair::new(draft), draft.timestamp);
        for _ in 0..TRIES_MAX {
            let channel = match self.open.get(&pair, now).filter(|it| it.fits(from, to)) {
                Some(channel) => channel,
                None => self.begin(pair, now, from, to)?,
            };
            let sealed = channel.sender.seal(draft, message, &from.identity);
            if channel.sender.is_exhausted() {
                self.open.remove(&pair, &channel);
            }
            match sealed {
                Err(WalletError::ChannelExhausted) => {}
                sealed => return Ok((sealed?, channel)),
            }
        }
        Err(WalletError::ChannelExhausted)
    }

    fn begin(
        &self,
        pair: KeyPair,
        now: Timestamp,
        from: &KeyMaterial,
        to: &SealingPublicKey,
    ) -> Result<Arc<OpenChannel>, WalletError> {
        let KeyPair { sender, recipient } = pair;
        let draft = ChannelDraft { id: ChannelId::new(now, random()?), sender, recipient };
        let (sender, channel) =
            ChannelSender::begin(&draft, self.envelopes_max, &from.identity, to)?;
        let (sender_version, row) = (from.sealing_key.version(), Arc::new(channel));
        let channel = OpenChannel { sender, sender_version, row };
        Ok(self.open.share(pair, channel, now, |other| other.fits(from, to)))
    }

    /// Returns the recipient's side of a stored channel, which opens envelopes. Verifies the signature of the channel
    /// unless the channel is cached.
    pub(crate) fn accept(
        &self,
        channel: &Channel,
        recipient: &Identity,
        sender: &Did,
        now: Timestamp,
    ) -> Result<Arc<ChannelReceiver>, WalletError> {
        let row = ChannelRow::new(channel, sender);
        if let Some(receiver) = self.accepted.get(&row, now) {
            return Ok(receiver);
        }
        let receiver = ChannelReceiver::accept(channel, recipient, sender)?;
        Ok(self.accepted.share(row, receiver, now, |_| true))
    }

    /// Wipes the cached secrets of all channels in which the key is sender or recipient.
    pub(super) fn end(&self, key: &ApiKeyId) {
        self.open.remove_party(key);
        self.accepted.remove_party(key);
    }

    /// Wipes the cached channels that `snapshot`, the current state of a key, makes invalid:
    ///
    /// - If the key is not active: all channels of the key.
    /// - If the key is active: the channels for sending that began with another version of its sealing key.
    pub(super) fn end_outdated(&self, snapshot: &KeySnapshot) {
        if snapshot.status == KeyStatus::Active {
            self.open.remove_party_where(&snapshot.id, |pair, channel| {
                !channel.fits_snapshot(pair, snapshot)
            });
        } else {
            self.end(&snapshot.id);
        }
    }

    /// Returns the keys that are sender or recipient of at least one cached channel.
    pub(super) fn parties(&self) -> Vec<ApiKeyId> {
        [self.open.parties(), self.accepted.parties()].concat()
    }

    pub(super) fn wipe_expired(&self, now: Timestamp) {
        self.open.wipe_expired(now);
        self.accepted.wipe_expired(now);
    }

    /// Wipes the secrets of all channels, and caches no channel from now on.
    pub(super) fn close(&self) {
        self.open.close();
        self.accepted.close();
    }
}

impl OpenChannel {
    /// Returns the database row of the channel.
    pub(crate) fn row(&self) -> Arc<Channel> {
        Arc::clone(&self.row)
    }

    /// Returns true if the channel was begun with the current sealing keys of sender and recipient.
    fn fits(&self, from: &KeyMaterial, to: &SealingPublicKey) -> bool {
        self.sender_version == from.sealing_key.version()
            && self.sender.sealing_version() == to.version()
    }

    fn fits_snapshot(&self, pair: &KeyPair, snapshot: &KeySnapshot) -> bool {
        let fits = |party, version| party != snapshot.id || version == snapshot.sealing_version;
        fits(pair.sender, self.sender_version)
            && fits(pair.recipient, self.sender.sealing_version())
    }
}

impl KeyPair {
    fn new(draft: &EnvelopeDraft) -> Self {
        Self { sender: draft.sender, recipient: draft.recipient }
    }
}

impl ChannelRow {
    fn new(channel: &Channel, sender_did: &Did) -> Self {
        let Channel { id, sender, recipient, sealing_version, encapsulation, signature } = channel;
        let hash = chain_hash(&[
            sender_did.as_str().as_bytes(),
            id.as_bytes(),
            sender.as_bytes(),
            recipient.as_bytes(),
            &sealing_version.to_be_bytes(),
            encapsulation,
            signature,
        ]);
        Self { pair: KeyPair { sender: *sender, recipient: *recipient }, hash }
    }
}

impl VaultKey for KeyPair {
    fn parties(&self) -> [ApiKeyId; 2] {
        [self.sender, self.recipient]
    }
}

impl VaultKey for ChannelRow {
    fn parties(&self) -> [ApiKeyId; 2] {
        self.pair.parties()
    }
}

/// Maximum number of channels that one send tries. A send needs another channel if concurrent sends have used up the
/// envelopes of the previous one.
const TRIES_MAX: u32 = 3;

#[cfg(test)]
mod tests;
