//! Decides a batch of sends (requests to send a message) without any I/O, on rows that the transaction has read and
//! locked.
//!
//! Each [`Command`] (one message or other request) gets its own [`Verdict`]. Later commands of the batch take the
//! effects of earlier ones into account.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use sealpost_domain::{
    ApiKeyId, Channel, ChannelId, Code, DeliveryId, EnvelopeId, EnvelopeMeta, Event, EventKind,
    KeyStatus, LeaseToken, LeasedDelivery, ReceiptFacts, ReceiptState, Refusal, Timestamp, Usage,
    ports::{
        AdmissionFacts, Contact, FactsQuery, IdempotencyRecord, IdempotencyResult, KeyFacts,
        NewIdempotencyRecord, OverageCount, ParkedDelivery, WaitingEnvelope, WriteSet,
    },
};
use sealpost_limits::{MessageAdmission, Terms, admit_message, reached_thresholds};

use super::{
    command::{Command, CommandGroup, Decided, Idempotency, PendingEnvelope, Verdict, results_of},
    storage_room::StorageRoom,
};
use crate::caller::admission::{Limits, admit, limits_reached};

/// The lease under which a batch stores its new deliveries. A lease is the exclusive right of one node to attempt a
/// delivery until a certain time.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BatchLease {
    /// Maximum number of new deliveries to lease: the free capacity of this node's dispatcher, which sends events to
    /// webhooks. Further deliveries are stored without a lease.
    pub(crate) capacity: usize,
    pub(crate) token: LeaseToken,
    pub(crate) until: Timestamp,
}

/// The data of this node that a batch needs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BatchNode<'a> {
    pub(crate) lease: BatchLease,
    /// URL of the sales contact. A refusal gets this URL before the refusal is stored in the idempotency record, so
    /// that a repeated request gets the same text.
    pub(crate) sales_contact: Option<&'a str>,
}

/// The times that decide a batch.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BatchTimes {
    pub(crate) now: Timestamp,
    /// A time before the [facts](AdmissionFacts), on which the batch is decided, were read. The dispatcher gets this
    /// time with the new deliveries, because their webhooks may have changed since.
    pub(crate) read_at: Timestamp,
    /// Idempotency records from before this time have expired, even if they are not deleted yet.
    pub(crate) expired_before: Timestamp,
}

/// Selects the rows that the batch needs. The ids are sorted, so that all batches lock rows in the same order and
/// cannot deadlock.
pub(crate) fn facts_query(groups: &[&CommandGroup]) -> FactsQuery {
    let (mut sessions, mut callers, mut recipients, mut named) =
        (BTreeSet::new(), BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    for (group, command) in
        groups.iter().flat_map(|it| it.commands.iter().map(move |one| (it, one)))
    {
        let name = command.idempotency.as_ref().or(group.batch_key.as_ref());
        sessions.insert(command.caller.session);
        callers.insert(command.caller.key);
        recipients.extend(command.pending.as_ref().map(|out| out.envelope.meta.recipient));
        named.extend(name.map(|name| (command.caller.key, &name.key)));
    }
    FactsQuery {
        sessions: sessions.into_iter().collect(),
        callers: callers.into_iter().collect(),
        recipients: recipients.into_iter().collect(),
        idempotency: named.into_iter().map(|(caller, key)| (caller, key.clone())).collect(),
    }
}

/// Selects the pairs of recipient and sender for which contacts must be looked up. A contact is a key to which the
/// recipient has sent.
///
/// Selects a pair if the recipient's policy refuses the sender unless the sender is a contact. Also selects blocked
/// senders, which are refused in every case: without the look-up, the shorter duration of the request would reveal the
/// block.
pub(crate) fn contacts_query(
    facts: &AdmissionFacts,
    commands: &[&Command],
) -> Vec<(ApiKeyId, ApiKeyId)> {
    let mut pairs = BTreeSet::new();
    for command in commands {
        let Some(pending) = &command.pending else { continue };
        let (sender, recipient) = (command.caller.key, pending.envelope.meta.recipient);
        let policy = facts.keys.get(&recipient).and_then(|key| key.policy.as_ref());
        if policy.is_some_and(|policy| policy.refuses(&sender, false)) {
            pairs.insert((recipient, sender));
        }
    }
    pairs.into_iter().collect()
}

/// Decides the groups in order, and the commands of each group in order. Returns the decisions of each group, and the
/// rows to write. Each accepted envelope reduces the storage that is left in `room`.
pub(crate) fn decide(
    facts: AdmissionFacts,
    groups: &[&CommandGroup],
    BatchTimes { now, read_at, expired_before }: BatchTimes,
    BatchNode { lease, sales_contact }: BatchNode<'_>,
    room: &mut StorageRoom,
) -> (Vec<Vec<Decided>>, WriteSet) {
    let mut decision = BatchDecision {
        facts,
        now,
        read_at,
        expired_before,
        lease,
        sales_contact,
        room,
        changes: WriteSet::default(),
        channels: BTreeMap::new(),
        touched: BTreeMap::new(),
        contacts: BTreeSet::new(),
        overage: BTreeMap::new(),
    };
    let decided = groups.iter().map(|group| decision.decide_group(group)).collect();
    (decided, decision.changes())
}

/// The state while a batch is decided, with the effects of the commands decided so far.
struct BatchDecision<'a> {
    facts: AdmissionFacts,
    now: Timestamp,
    read_at: Timestamp,
    expired_before: Timestamp,
    lease: BatchLease,
    sales_contact: Option<&'a str>,
    room: &'a mut StorageRoom,
    changes: WriteSet,
    channels: BTreeMap<ChannelId, Arc<Channel>>,
    /// The usage before the batch, for each caller whose usage the batch changes. A comparison with the usage
    /// afterwards shows the thresholds (percentages of the limits) that the batch reaches.
    touched: BTreeMap<ApiKeyId, Usage>,
    /// The contacts to record, as pairs of sender and recipient. A send records a contact only if the policy of the
    /// sender needs contacts.
    contacts: BTreeSet<(ApiKeyId, ApiKeyId)>,
    overage: BTreeMap<(ApiKeyId, Timestamp), u32>,
}

/// The reason for which a command is rejected. A rejected command stores nothing.
enum Rejection {
    Refused(Refusal),
    Replayed(Box<IdempotencyResult<EnvelopeMeta>>),
    Stale,
}

impl BatchDecision<'_> {
    /// Decides the commands of a group, which is stored as a whole. If the cached data of one recipient is out of date,
    /// all commands of the group get [`Verdict::Stale`], so that the whole group is sealed again.
    fn decide_group(&mut self, group: &CommandGroup) -> Vec<Decided> {
        let CommandGroup { commands, batch_key } = group;
        if commands.len() > 1 && commands.iter().any(|command| self.is_stale(command)) {
            let stale = Decided { verdict: Verdict::Stale, limits: None, is_admitted: true };
            return vec![stale; commands.len()];
        }
        let key = batch_key.as_ref();
        let decided: Vec<_> = commands.iter().map(|command| self.decide(command, key)).collect();
        if let Some(key) = key {
            self.add_batch_record(group, key, &decided);
        }
        decided
    }

    fn is_stale(&self, command: &Command) -> bool {
        command.pending.as_ref().is_some_and(|pending| {
            let key = self.facts.keys.get(&pending.envelope.meta.recipient);
            key.is_none_or(|key| is_outdated(pending, key))
        })
    }

    fn decide(&mut self, command: &Command, batch_key: Option<&Idempotency>) -> Decided {
        let caller = &command.caller;
        let before = self.facts.usage.get(&caller.key).copied().unwrap_or(Usage::UNUSED);
        let admitted = admit(&mut self.facts, caller, command.purpose, self.now);
        let limits = limits_reached(&admitted, &self.facts, caller, self.now);
        let is_admitted = admitted.is_ok();
        let decided = admitted
            .map_err(Rejection::from)
            .and_then(|()| self.decide_admitted(command, batch_key));
        let verdict = match decided {
            Ok(verdict) => verdict,
            Err(mut rejection) => {
                if rejection.is_uncounted() {
                    self.facts.usage.insert(caller.key, before);
                }
                if let (Rejection::Refused(refusal), Some(url)) =
                    (&mut rejection, self.sales_contact)
                {
                    refusal.name_sales_contact(url);
                }
                rejection.into()
            }
        };
        let usage = self.facts.usage.get(&caller.key).copied().unwrap_or(before);
        if usage != before {
            self.touched.entry(caller.key).or_insert(before);
        }
        let limits = limits.map(|limits| Limits { usage, ..limits });
        Decided { verdict, limits, is_admitted }
    }

    /// Decides a command that [`admit`] has admitted. Checks the rest in the order of the API contract: idempotency,
    /// recipient, storage, throughput, monthly allowance. Stores the envelope of the command if all checks pass.
    fn decide_admitted(
        &mut self,
        command: &Command,
        batch_key: Option<&Idempotency>,
    ) -> Result<Verdict, Rejection> {
        self.check_idempotency(command, batch_key)?;
        if let Some(refusal) = &command.refusal {
            return Err(refusal.clone().into());
        }
        let Some(pending) = &command.pending else { return Ok(Verdict::Admitted) };
        let caller = command.caller.key;
        check_recipient(&self.facts, &caller, pending)?;
        let key = self.facts.keys.get(&caller).ok_or(Rejection::Stale)?;
        let (account, bytes) = (key.account_id, command.bytes());
        self.room.check(&account, bytes)?;
        let usage = self.facts.usage.entry(caller).or_insert(Usage::UNUSED);
        let admitted = admit_message(&Terms::new(&key.plan), usage, self.now)?;
        self.room.take(&account, bytes);
        if admitted == MessageAdmission::Overage {
            *self.overage.entry((caller, usage.month.start)).or_default() += 1;
        }
        if key.policy.as_ref().is_some_and(|policy| policy.records_contacts) {
            let contact = (caller, pending.envelope.meta.recipient);
            self.contacts.insert(contact);
            self.facts.contacts.insert(contact);
        }
        let state = self.store(pending);
        self.add_idempotency_record(command, pending, state);
        Ok(Verdict::Stored(state))
    }

    fn check_idempotency(
        &self,
        command: &Command,
        batch_key: Option<&Idempotency>,
    ) -> Result<(), Rejection> {
        let Some(name) = command.idempotency.as_ref().or(batch_key) else { return Ok(()) };
        let earlier = self.facts.idempotency.get(&(command.caller.key, name.key.clone()));
        match earlier.filter(|earlier| earlier.at >= self.expired_before) {
            None => Ok(()),
            Some(earlier) if earlier.fingerprint == name.fingerprint => {
                Err(Rejection::Replayed(Box::new(earlier.result.clone())))
            }
            Some(_) => Err(Refusal::IdempotencyKeyReused.into()),
        }
    }

    /// Adds the envelope and its deliveries to the rows to write. Returns the state of the envelope, as its sender sees
    /// it.
    fn store(&mut self, pending: &PendingEnvelope) -> ReceiptState {
        let (changes, lease) = (&mut self.changes, &self.lease);
        let envelope = &pending.envelope;
        let sender = self.facts.keys.get(&envelope.meta.sender);
        let sender_handle = sender.and_then(|key| key.handle.clone());
        let event = Event::received(envelope.meta.clone(), sender_handle);
        let webhooks = self.facts.webhooks.get(&envelope.meta.recipient);
        let mut subscribed =
            webhooks.iter().flat_map(|all| all.subscribed(EventKind::EnvelopeReceived)).peekable();
        let is_waiting = subscribed.peek().is_none();
        if is_waiting {
            let EnvelopeMeta { id: envelope_id, recipient, .. } = envelope.meta;
            changes.waiting.push(WaitingEnvelope { envelope_id, recipient });
        }
        for webhook in subscribed {
            if !webhook.is_active {
                let id = DeliveryId { event_id: event.id(), webhook_id: webhook.target.webhook_id };
                changes.parked.push(ParkedDelivery { id, event_at: event.timestamp() });
                continue;
            }
            let delivery = LeasedDelivery {
                event: event.clone(),
                target: Arc::clone(&webhook.target),
                target_read_at: self.read_at,
                attempts: 0,
                requested_at: None,
                lease: lease.token,
                lease_until: lease.until,
            };
            if changes.leased.len() < lease.capacity {
                changes.leased.push(delivery);
            } else {
                changes.unleased.push(delivery);
            }
        }
        changes.envelopes.push(Arc::clone(envelope));
        changes.leaves.extend(pending.leaf);
        self.channels.extend(pending.channel.iter().map(|it| (it.id, Arc::clone(it))));
        let recipient = self.facts.keys.get(&envelope.meta.recipient);
        let policy = recipient.and_then(|key| key.policy.as_ref());
        let receipts = policy.map(|policy| policy.receipts).unwrap_or_default();
        receipts.view(&ReceiptFacts { is_waiting, ..ReceiptFacts::default() }).state
    }

    /// Adds the idempotency record of a send to the rows to write, and makes it visible to later commands of the batch.
    fn add_idempotency_record(
        &mut self,
        command: &Command,
        pending: &PendingEnvelope,
        state: ReceiptState,
    ) {
        let Some(name) = &command.idempotency else { return };
        let envelope = pending.envelope.meta.clone();
        let stored = IdempotencyResult::Send { envelope: envelope.id, state };
        let result = IdempotencyResult::Send { envelope, state };
        self.add_record(command.caller.key, name, stored, result);
    }

    /// Adds the idempotency record of a request with many messages, together with the results of the messages. Adds
    /// nothing if the request has no results of its own, for example if it repeats an earlier request.
    fn add_batch_record(&mut self, group: &CommandGroup, key: &Idempotency, decided: &[Decided]) {
        let envelope = |command: &Command| Some(Arc::clone(&command.pending.as_ref()?.envelope));
        let envelopes: Vec<_> = group.commands.iter().map(envelope).collect();
        let results = results_of(&envelopes, decided);
        let results = results.and_then(|results| serde_json::to_string(&results).ok());
        let (Some(results), Some(command)) = (results, group.commands.first()) else { return };
        let results = Arc::<str>::from(results);
        let stored = IdempotencyResult::Batch(Arc::clone(&results));
        self.add_record(command.caller.key, key, stored, IdempotencyResult::Batch(results));
    }

    /// Adds an idempotency record to the rows to write. Adds `result` to the facts, for later commands of the batch.
    fn add_record(
        &mut self,
        caller: ApiKeyId,
        name: &Idempotency,
        stored: IdempotencyResult<EnvelopeId>,
        result: IdempotencyResult<EnvelopeMeta>,
    ) {
        let Idempotency { key, fingerprint } = name.clone();
        let (at, expired_before) = (self.now, self.expired_before);
        let record = IdempotencyRecord { at, fingerprint, result };
        self.facts.idempotency.insert((caller, key.clone()), record);
        self.changes.idempotency.push(NewIdempotencyRecord {
            caller,
            key,
            fingerprint,
            result: stored,
            at,
            expired_before,
        });
    }

    fn changes(self) -> WriteSet {
        let Self { facts, now, mut changes, channels, touched, contacts, overage, .. } = self;
        let contact = |(api_key_id, contact)| Contact { api_key_id, contact, sent_at: now };
        changes.contacts = contacts.into_iter().map(contact).collect();
        changes.channels = channels.into_values().collect();
        for (key, before) in touched {
            let Some(usage) = facts.usage.get(&key) else { continue };
            if let Some(facts) = facts.keys.get(&key) {
                let terms = Terms::new(&facts.plan);
                let reached = reached_thresholds(&key, (&terms, &before), (&terms, usage), now);
                changes.thresholds.extend(reached);
            }
            changes.usage.push((key, *usage));
        }
        let overage = overage.into_iter();
        changes.overage =
            overage.map(|((key, month), messages)| OverageCount { key, month, messages }).collect();
        changes
    }
}

fn check_recipient(
    facts: &AdmissionFacts,
    sender: &ApiKeyId,
    pending: &PendingEnvelope,
) -> Result<(), Rejection> {
    let field = Some("to");
    let recipient = &pending.envelope.meta.recipient;
    // The cache had the key, but the database has lost it, for example by a failover. The handle may have a new owner.
    let key = facts.keys.get(recipient).ok_or(Rejection::Stale)?;
    if pending.handle.is_some() && pending.handle != key.handle {
        return Err(Rejection::Stale);
    }
    if key.status != KeyStatus::Active {
        return Err(Refusal::KeyInactive { status: key.status, field }.into());
    }
    if key.standing.is_blocked() {
        return Err(Refusal::GovernanceBlocked { field }.into());
    }
    if let Some(policy) = &key.policy {
        let is_contact = facts.contacts.contains(&(*recipient, *sender));
        if policy.refuses(sender, is_contact) {
            return Err(Refusal::RecipientRefuses.into());
        }
    }
    if pending.sealing_version != key.sealing_version {
        return Err(Rejection::Stale);
    }
    Ok(())
}

/// Returns true if the recipient no longer has the handle that the sender used, or if the message was sealed for an
/// older sealing key.
fn is_outdated(pending: &PendingEnvelope, recipient: &KeyFacts) -> bool {
    (pending.handle.is_some() && pending.handle != recipient.handle)
        || (recipient.status == KeyStatus::Active
            && pending.sealing_version != recipient.sealing_version)
}

impl Rejection {
    /// Returns true if the request does not count against the limits:
    ///
    /// - requests refused because of a rate limit, the monthly allowance, or a lack of disk space
    /// - requests whose message must be sealed again, because the recipient has changed
    fn is_uncounted(&self) -> bool {
        match self {
            Self::Refused(refusal) => {
                matches!(
                    refusal.code(),
                    Code::RateLimitExceeded | Code::MonthlyLimitExceeded | Code::ServiceUnavailable
                )
            }
            Self::Replayed(_) => false,
            Self::Stale => true,
        }
    }
}

impl From<Rejection> for Verdict {
    fn from(rejection: Rejection) -> Self {
        match rejection {
            Rejection::Refused(refusal) => Self::Refused(refusal),
            Rejection::Replayed(result) => Self::Replayed(*result),
            Rejection::Stale => Self::Stale,
        }
    }
}

impl From<Refusal> for Rejection {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

#[cfg(test)]
mod tests;
