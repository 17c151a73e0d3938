//! Channels that run: the sender's side of those that this node began, and the recipient's side of those whose envelopes
//! it opened. Both are in its memory alone and end there: after their time, when all their envelopes are sealed, when
//! either key is seen in another state or with another sealing key, and when the service stops. What this node's own
//! requests do not show of keys, a review of them does ([`crate::review`]).

use std::sync::{Arc, Mutex, PoisonError};

use sealpost_domain::{
    ApiKeyId, Channel, ChannelId, Did, Envelope, KeyStatus, Refusal, Timestamp, ports::KeySnapshot,
};
use sealpost_wallet::{
    ChannelDraft, ChannelReceiver, ChannelSender, EnvelopeDraft, Identity, SealingPublicKey,
    WalletError, chain_hash, random,
};

use crate::{
    Settings,
    batch::Verdict,
    known::Material,
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
    /// The version of the sender's own sealing key when it was begun.
    sender_version: u32,
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
        draft: &EnvelopeDraft,
        message: &[u8],
        from: &Material,
        to: &SealingPublicKey,
    ) -> Result<(Envelope, Arc<Running>), WalletError> {
        let (pair, now) = (Pair::of(draft), draft.timestamp);
        for _ in 0..TRIES_MAX {
            let running = match self.running.get(&pair, now).filter(|it| it.is_of(from, to)) {
                Some(running) => running,
                None => self.begin(pair, now, from, to)?,
            };
            let sealed = running.sender.seal(draft, message, &from.identity);
            if running.sender.is_exhausted() {
                self.running.let_go(&pair, &running);
            }
            match sealed {
                Err(WalletError::ChannelExhausted) => {}
                sealed => return Ok((sealed?, running)),
            }
        }
        Err(WalletError::ChannelExhausted)
    }

    fn begin(
        &self,
        pair: Pair,
        now: Timestamp,
        from: &Material,
        to: &SealingPublicKey,
    ) -> Result<Arc<Running>, WalletError> {
        let Pair { sender, recipient } = pair;
        let draft = ChannelDraft { id: ChannelId::new(now, random()?), sender, recipient };
        let (sender, channel) =
            ChannelSender::begin(&draft, self.envelopes_max, &from.identity, to)?;
        let unstored = Mutex::new(Some(Arc::new(channel)));
        let running = Running { sender, sender_version: from.sealing_version, unstored };
        Ok(self.running.share(pair, running, now, |other| other.is_of(from, to)))
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

    /// Ends what does not go with where a key stands: everything unless it is active, and what was begun with another
    /// sealing key of its.
    pub(crate) fn heed_state(&self, state: &KeySnapshot) {
        if state.status == KeyStatus::Active {
            self.running
                .let_go_of_where(&state.id, |pair, running| !running.goes_with(pair, state));
        } else {
            self.end(&state.id);
        }
    }

    /// Whose state matters here.
    pub(crate) fn parties(&self) -> Vec<ApiKeyId> {
        [self.running.parties(), self.accepted.parties()].concat()
    }

    pub(crate) fn end(&self, key: &ApiKeyId) {
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

    /// Whether the sealing keys of both are still those that it was begun with.
    fn is_of(&self, from: &Material, to: &SealingPublicKey) -> bool {
        self.sender_version == from.sealing_version && self.sender.sealing_version() == to.version()
    }

    fn goes_with(&self, pair: &Pair, state: &KeySnapshot) -> bool {
        let is_as_it_was = |party, version| party != state.id || version == state.sealing_version;
        is_as_it_was(pair.sender, self.sender_version)
            && is_as_it_was(pair.recipient, self.sender.sealing_version())
    }
}

impl Pair {
    fn of(draft: &EnvelopeDraft) -> Self {
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
