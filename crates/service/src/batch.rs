//! The decision on a batch of sends: pure, on facts that the transaction holds locked. Each command gets its own
//! verdict; what was decided for one counts for the next.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use sealpost_domain::{
    ApiKeyId, Channel, ChannelId, Code, DeliveryId, Envelope, EnvelopeMeta, Fingerprint, Handle,
    IdempotencyKey, KeyStatus, LeaseToken, LeasedDelivery, Refusal, Timestamp, Usage,
    ports::{
        AdmissionFacts, FactsQuery, IdempotencyRecord, NewIdempotencyRecord, OverageCount,
        ParkedDelivery, WriteSet,
    },
};
use sealpost_limits::{MessageAdmission, Terms, admit_message};

use crate::{
    Limits,
    admission::{Act, admit, limits_reached},
    credentials::Caller,
};

/// One request of a batch.
pub(crate) struct Command {
    pub(crate) caller: Caller,
    /// How the caller named the request, where it did.
    pub(crate) idempotency: Option<Idempotency>,
    /// What to store; `None` where the request is only to be admitted and counted.
    pub(crate) outgoing: Option<Outgoing>,
}

impl Command {
    /// What it holds in memory for as long as it waits, as far as that depends on the message.
    pub(crate) fn bytes(&self) -> usize {
        self.outgoing.as_ref().map_or(0, |outgoing| outgoing.envelope.sealed.len())
    }
}

/// The caller's name for a request, and what it asked for.
#[derive(Debug, Clone)]
pub(crate) struct Idempotency {
    pub(crate) key: IdempotencyKey,
    pub(crate) fingerprint: Fingerprint,
}

/// A sealed envelope on its way into the store.
pub(crate) struct Outgoing {
    pub(crate) envelope: Arc<Envelope>,
    /// What is to be stored of the channel that it is sealed under, while that may not be stored yet.
    pub(crate) channel: Option<Arc<Channel>>,
    /// The handle that was resolved, where the caller named one.
    pub(crate) handle: Option<Handle>,
    /// The version of the recipient's key that it is sealed to.
    pub(crate) sealing_version: u32,
}

/// What became of one command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Admitted and counted, nothing to store.
    Admitted,
    /// Refused; nothing of it is stored.
    Refused(Refusal),
    /// The same request came before: what it stored then is the answer, and nothing is stored now.
    Replayed(EnvelopeMeta),
    /// The recipient is not what the sender remembered: look it up and seal again. Not counted.
    Stale,
    /// Stored, with its deliveries.
    Stored,
}

/// A verdict, and where the caller's limits stand after it.
#[derive(Debug, Clone)]
pub(crate) struct Decided {
    pub(crate) verdict: Verdict,
    pub(crate) limits: Option<Limits>,
}

/// How this node holds the deliveries of the batch.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Hold {
    pub(crate) room: usize,
    pub(crate) lease: LeaseToken,
    pub(crate) lease_until: Timestamp,
}

/// What the batch asks the store about.
pub(crate) fn wanted(commands: &[&Command]) -> FactsQuery {
    let (mut sessions, mut callers, mut recipients, mut named) =
        (BTreeSet::new(), BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    for command in commands {
        sessions.insert(command.caller.session);
        callers.insert(command.caller.key);
        recipients.extend(command.outgoing.as_ref().map(|out| out.envelope.meta.recipient));
        named.extend(command.idempotency.as_ref().map(|name| (command.caller.key, &name.key)));
    }
    FactsQuery {
        sessions: sessions.into_iter().collect(),
        callers: callers.into_iter().collect(),
        recipients: recipients.into_iter().collect(),
        idempotency: named.into_iter().map(|(caller, key)| (caller, key.clone())).collect(),
    }
}

/// Decides the batch in its order. What was remembered before `expired_before` has had its time, though it may not be
/// deleted yet.
pub(crate) fn decide(
    facts: AdmissionFacts,
    commands: &[&Command],
    now: Timestamp,
    expired_before: Timestamp,
    hold: Hold,
) -> (Vec<Decided>, WriteSet) {
    let mut decision = Decision {
        facts,
        now,
        expired_before,
        hold,
        changes: WriteSet::default(),
        channels: BTreeMap::new(),
        touched: BTreeSet::new(),
        overage: BTreeMap::new(),
    };
    let decided = commands.iter().map(|command| decision.on(command)).collect();
    (decided, decision.changes())
}

/// The batch as far as it is decided.
struct Decision {
    facts: AdmissionFacts,
    now: Timestamp,
    expired_before: Timestamp,
    hold: Hold,
    changes: WriteSet,
    channels: BTreeMap<ChannelId, Arc<Channel>>,
    touched: BTreeSet<ApiKeyId>,
    overage: BTreeMap<(ApiKeyId, Timestamp), u32>,
}

enum Setback {
    Refused(Refusal),
    Replayed(EnvelopeMeta),
    Stale,
}

impl Decision {
    fn on(&mut self, command: &Command) -> Decided {
        let caller = &command.caller;
        let before = self.facts.usage.get(&caller.key).copied().unwrap_or(Usage::UNUSED);
        let admitted = admit(&mut self.facts, caller, Act::Execute, self.now);
        let limits = limits_reached(&admitted, &self.facts, caller, self.now);
        let verdict = match admitted.map_err(Setback::from).and_then(|()| self.go_on(command)) {
            Ok(verdict) => verdict,
            Err(setback) => {
                if setback.counts_for_nothing() {
                    self.facts.usage.insert(caller.key, before);
                }
                setback.into()
            }
        };
        let usage = self.facts.usage.get(&caller.key).copied().unwrap_or(before);
        if usage != before {
            self.touched.insert(caller.key);
        }
        let limits = limits.map(|limits| Limits { usage, ..limits });
        Decided { verdict, limits }
    }

    /// What comes after admission, in the contract's order: idempotency, recipient, throughput, month.
    fn go_on(&mut self, command: &Command) -> Result<Verdict, Setback> {
        self.check_idempotency(command)?;
        let Some(outgoing) = &command.outgoing else { return Ok(Verdict::Admitted) };
        check_recipient(&self.facts, outgoing)?;
        let caller = command.caller.key;
        let terms = self.facts.keys.get(&caller).map(|key| Terms::of(&key.plan));
        let usage = self.facts.usage.entry(caller).or_insert(Usage::UNUSED);
        let admitted = admit_message(&terms.ok_or(Setback::Stale)?, usage, self.now)?;
        if admitted == MessageAdmission::Overage {
            *self.overage.entry((caller, usage.month.start)).or_default() += 1;
        }
        self.store(outgoing);
        self.remember(command, outgoing);
        Ok(Verdict::Stored)
    }

    fn check_idempotency(&self, command: &Command) -> Result<(), Setback> {
        let Some(name) = &command.idempotency else { return Ok(()) };
        let earlier = self.facts.idempotency.get(&(command.caller.key, name.key.clone()));
        match earlier.filter(|earlier| earlier.at >= self.expired_before) {
            None => Ok(()),
            Some(earlier) if earlier.fingerprint == name.fingerprint => {
                Err(Setback::Replayed(earlier.meta.clone()))
            }
            Some(_) => Err(Refusal::IdempotencyKeyReused.into()),
        }
    }

    fn store(&mut self, outgoing: &Outgoing) {
        let (changes, hold) = (&mut self.changes, &self.hold);
        let envelope = &outgoing.envelope;
        let meta = Arc::new(envelope.meta.clone());
        let webhooks = self.facts.webhooks.get(&envelope.meta.recipient);
        for target in webhooks.iter().flat_map(|all| &all.enabled) {
            let delivery = LeasedDelivery {
                meta: Arc::clone(&meta),
                target: Arc::clone(target),
                attempts: 0,
                lease: hold.lease,
                lease_until: hold.lease_until,
            };
            if changes.leased.len() < hold.room {
                changes.leased.push(delivery);
            } else {
                changes.unleased.push(delivery);
            }
        }
        for webhook_id in webhooks.iter().flat_map(|all| &all.disabled) {
            let id = DeliveryId { envelope_id: meta.id, webhook_id: *webhook_id };
            changes.parked.push(ParkedDelivery { id, sealed_at: meta.timestamp });
        }
        changes.envelopes.push(Arc::clone(envelope));
        self.channels.extend(outgoing.channel.iter().map(|it| (it.id, Arc::clone(it))));
    }

    /// For the store, and for those of this batch that come after.
    fn remember(&mut self, command: &Command, outgoing: &Outgoing) {
        let Some(Idempotency { key, fingerprint }) = command.idempotency.clone() else { return };
        let (caller, meta) = (command.caller.key, outgoing.envelope.meta.clone());
        let at = self.now;
        self.changes.idempotency.push(NewIdempotencyRecord {
            caller,
            key: key.clone(),
            fingerprint,
            envelope_id: meta.id,
            at,
            expired_before: self.expired_before,
        });
        self.facts.idempotency.insert((caller, key), IdempotencyRecord { at, fingerprint, meta });
    }

    fn changes(self) -> WriteSet {
        let Self { facts, mut changes, channels, touched, overage, .. } = self;
        changes.channels = channels.into_values().collect();
        let used = touched.into_iter();
        let used = used.filter_map(|key| facts.usage.get(&key).map(|usage| (key, *usage)));
        changes.usage = used.collect();
        let overage = overage.into_iter();
        changes.overage =
            overage.map(|((key, month), messages)| OverageCount { key, month, messages }).collect();
        changes
    }
}

fn check_recipient(facts: &AdmissionFacts, outgoing: &Outgoing) -> Result<(), Setback> {
    let field = Some("to");
    let recipient = &outgoing.envelope.meta.recipient;
    let key = facts.keys.get(recipient).ok_or(Refusal::KeyNotFound { field })?;
    if outgoing.handle.is_some() && outgoing.handle != key.handle {
        return Err(Setback::Stale);
    }
    if key.status != KeyStatus::Active {
        return Err(Refusal::KeyInactive { status: key.status, field }.into());
    }
    if key.standing.is_blocked() {
        return Err(Refusal::GovernanceBlocked { field }.into());
    }
    if outgoing.sealing_version != key.sealing_version {
        return Err(Setback::Stale);
    }
    Ok(())
}

impl Setback {
    /// What a limit refused does not count against another one; what is tried again counts then.
    fn counts_for_nothing(&self) -> bool {
        match self {
            Self::Refused(refusal) => {
                matches!(refusal.code(), Code::RateLimitExceeded | Code::MonthlyLimitExceeded)
            }
            Self::Replayed(_) => false,
            Self::Stale => true,
        }
    }
}

impl From<Setback> for Verdict {
    fn from(setback: Setback) -> Self {
        match setback {
            Setback::Refused(refusal) => Self::Refused(refusal),
            Setback::Replayed(meta) => Self::Replayed(meta),
            Setback::Stale => Self::Stale,
        }
    }
}

impl From<Refusal> for Setback {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

#[cfg(test)]
#[path = "batch_tests.rs"]
mod tests;
