//! Channels that run: the sender's side of those that this node began, and the recipient's side of those whose envelopes
//! it opened. Both are in its memory alone and end there: after their time, when all their envelopes are sealed, when
//! either key is seen in another state or with another sealing key, and when the service stops.

use std::sync::{Arc, Mutex, PoisonError};

use sealpost_domain::{ApiKeyId, Channel, ChannelId, Did, Envelope, Refusal, Timestamp};
use sealpost_wallet::{
    ChannelDraft, ChannelReceiver, ChannelSender, Draft, Identity, SealingPublicKey, WalletError,
    chain_hash, random,
};

use crate::{
    Settings,
    batch::Verdict,
    vault::{Name, Vault},
};

/// The channels that this node knows the secrets of.
pub(crate) struct Channels {
    running: Vault<Pair, Running>,
    accepted: Vault<Row, ChannelReceiver>,
    envelopes_max: u32,
}

/// A channel that this node seals under.
pub(crate) struct Running {
    sender: ChannelSender,
    /// What is to be stored of it, until it is known to be: so that no envelope is ever stored without.
    unstored: Mutex<Option<Arc<Channel>>>,
}

/// Who seals, and for whom.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Pair {
    sender: ApiKeyId,
    recipient: ApiKeyId,
}

/// A stored channel as it was when its signature was verified: of a row that was changed since, the hash is another.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Row {
    pair: Pair,
    hash: [u8; 32],
}

impl Channels {
    pub(crate) fn new(settings: &Settings) -> Self {
        let (max, life) =
            (settings.channels_cached_max, settings.channel_life.min(Settings::CHANNEL_LIFE_MAX));
        Self {
            running: Vault::new(max, life),
            accepted: Vault::new(max, life),
            envelopes_max: settings.channel_envelopes_max,
        }
    }

    /// Seals in the channel of the draft's pair, which is begun where none runs.
    pub(crate) fn seal(
        &self,
        draft: &Draft,
        message: &[u8],
        from: &Identity,
        to: &SealingPublicKey,
    ) -> Result<(Envelope, Arc<Running>), WalletError> {
        let (pair, now) = (Pair::of(draft), draft.timestamp);
        for _ in 0..TRIES_MAX {
            let running = match self.running.get(&pair, now).filter(|it| it.is_to(to)) {
                Some(running) => running,
                None => self.begin(pair, now, from, to)?,
            };
            match running.sender.seal(draft, message, from) {
                Err(WalletError::ChannelSpent) => self.running.let_go(&pair, &running),
                sealed => return Ok((sealed?, running)),
            }
        }
        Err(WalletError::ChannelSpent)
    }

    fn begin(
        &self,
        pair: Pair,
        now: Timestamp,
        from: &Identity,
        to: &SealingPublicKey,
    ) -> Result<Arc<Running>, WalletError> {
        let Pair { sender, recipient } = pair;
        let draft = ChannelDraft { id: ChannelId::new(now, random()?), sender, recipient };
        let (sender, channel) = ChannelSender::begin(&draft, self.envelopes_max, from, to)?;
        let running = Running { sender, unstored: Mutex::new(Some(Arc::new(channel))) };
        Ok(self.running.share(pair, running, now, |other| other.is_to(to)))
    }

    /// The recipient's side of a stored channel.
    pub(crate) fn accept(
        &self,
        channel: &Channel,
        recipient: &Identity,
        sender: &Did,
        now: Timestamp,
    ) -> Result<Arc<ChannelReceiver>, WalletError> {
        let row = Row::of(channel, sender);
        if let Some(receiver) = self.accepted.get(&row, now) {
            return Ok(receiver);
        }
        let receiver = ChannelReceiver::accept(channel, recipient, sender)?;
        Ok(self.accepted.share(row, receiver, now, |_| true))
    }

    /// Ends what the facts of a transaction showed to be over.
    pub(crate) fn heed(&self, sender: &ApiKeyId, recipient: Option<&ApiKeyId>, verdict: &Verdict) {
        match (verdict, recipient) {
            (Verdict::Refused(refusal), _) => self.heed_refusal(sender, recipient, refusal),
            (Verdict::Stale, Some(recipient)) => self.end(recipient),
            (Verdict::Admitted | Verdict::Replayed(_) | Verdict::Stale | Verdict::Stored, _) => {}
        }
    }

    /// A key in another state than active, be it the caller's or the recipient's, ends its channels.
    pub(crate) fn heed_refusal(
        &self,
        caller: &ApiKeyId,
        recipient: Option<&ApiKeyId>,
        refusal: &Refusal,
    ) {
        let Refusal::KeyInactive { field, .. } = refusal else { return };
        if let Some(key) = if field.is_none() { Some(caller) } else { recipient } {
            self.end(key);
        }
    }

    fn end(&self, key: &ApiKeyId) {
        self.running.let_go_of(key);
        self.accepted.let_go_of(key);
    }

    /// Wipes what has had its time.
    pub(crate) fn retire(&self, now: Timestamp) {
        self.running.retire(now);
        self.accepted.retire(now);
    }

    /// Wipes everything, and keeps nothing from now on.
    pub(crate) fn close(&self) {
        self.running.close();
        self.accepted.close();
    }
}

impl Running {
    /// What an envelope must bring along to the store.
    pub(crate) fn unstored(&self) -> Option<Arc<Channel>> {
        self.unstored.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// A transaction that brought it along was committed.
    pub(crate) fn note_stored(&self) {
        *self.unstored.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// Whether it is still to the recipient's newest sealing key.
    fn is_to(&self, key: &SealingPublicKey) -> bool {
        self.sender.sealing_version() == key.version()
    }
}

impl Pair {
    fn of(draft: &Draft) -> Self {
        Self { sender: draft.sender, recipient: draft.recipient }
    }
}

impl Row {
    fn of(channel: &Channel, sender_did: &Did) -> Self {
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
        Self { pair: Pair { sender: *sender, recipient: *recipient }, hash }
    }
}

impl Name for Pair {
    fn parties(&self) -> [ApiKeyId; 2] {
        [self.sender, self.recipient]
    }
}

impl Name for Row {
    fn parties(&self) -> [ApiKeyId; 2] {
        self.pair.parties()
    }
}

/// How often a channel is begun anew because others have sealed all that it may in the meantime.
const TRIES_MAX: u32 = 3;

#[cfg(test)]
#[path = "channel_tests.rs"]
mod tests;
