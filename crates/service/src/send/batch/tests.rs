//! Tests the decisions on a batch of sends, in particular the order of the checks. The tests need no database, because
//! the rows are given.

use std::{
    collections::{BTreeSet, HashMap, HashSet},
    slice,
    sync::Arc,
    time::Duration,
};

use sealpost_domain::{
    AcceptPolicy, AccountId, ApiKeyId, Channel, ChannelId, Code, DeliveryId, EnterpriseTerms,
    Envelope, EnvelopeHash, EnvelopeId, EnvelopeMeta, EventKind, Fingerprint, GovernanceKind,
    GovernanceReason, GovernanceStanding, GovernanceStatus, Handle, IdempotencyKey, KeyStatus,
    LeaseToken, MessageContext, Plan, ReceiptPolicy, ReceiptState, RecipientPolicy, Refusal,
    Session, Suite, Target, ThresholdWindow, Timestamp, TokenHash, Usage, UsageThreshold,
    WebhookId, Window, WindowUse, Wrapped,
    ports::{
        AdmissionFacts, Contact, IdempotencyRecord, IdempotencyResult, KeyFacts, OverageCount,
        ParkedDelivery, RecipientWebhook, RecipientWebhooks, WriteSet,
    },
};

use super::{BatchLease, BatchNode, BatchTimes, contacts_query, facts_query};
use crate::{
    caller::{
        admission::Purpose,
        credentials::{CallerId, FOREIGN_KEY, NO_SESSION},
    },
    send::{
        command::{
            BatchResult, Command, CommandGroup, Decided, Idempotency, PendingEnvelope,
            RefusedMessage, Verdict, refusal_of, results_of,
        },
        storage_room::StorageRoom,
    },
};

const NOW: Timestamp = Timestamp::from_millis(1_790_000_000_000);
const LONG_AGO: Timestamp = Timestamp::from_millis(1_780_000_000_000);
const TIMES: BatchTimes = BatchTimes { now: NOW, read_at: NOW, expired_before: LONG_AGO };
const TOKEN: TokenHash = TokenHash([1; 32]);
const SALES_CONTACT: &str = "https://sales.example/";

fn key(n: u8) -> ApiKeyId {
    ApiKeyId::new(Timestamp::from_millis(1), [n; 10])
}

fn account(n: u8) -> AccountId {
    AccountId::new(Timestamp::from_millis(1), [n; 10])
}

fn key_facts(owner: AccountId) -> KeyFacts {
    KeyFacts {
        account_id: owner,
        status: KeyStatus::Active,
        plan: Plan::Explorer,
        handle: None,
        sealing_version: 1,
        standing: GovernanceStanding::default(),
        policy: None,
    }
}

/// Returns the rows of Alice (key 1, account 1, session `TOKEN`) and Bob (key 2, account 2, one webhook).
fn facts() -> AdmissionFacts {
    let expires_at = Timestamp::from_millis(NOW.as_millis() + 1);
    let session = Session { token: TOKEN, account_id: account(1), expires_at };
    let target = Target {
        webhook_id: WebhookId::new(NOW, [2; 10]),
        account_id: account(2),
        url: "https://bob.example/".to_owned(),
        secret: Wrapped(vec![]),
        retiring: vec![],
    };
    let events = vec![EventKind::EnvelopeReceived];
    let webhook = RecipientWebhook { events, is_active: true, target: Arc::new(target) };
    let webhooks = RecipientWebhooks(vec![webhook]);
    AdmissionFacts {
        sessions: HashMap::from([(TOKEN, session)]),
        keys: [1, 2].map(|n| (key(n), Arc::new(key_facts(account(n))))).into(),
        usage: HashMap::from([(key(1), Usage::UNUSED)]),
        webhooks: HashMap::from([(key(2), Arc::new(webhooks))]),
        idempotency: HashMap::new(),
        contacts: HashSet::new(),
    }
}

fn set(facts: &mut AdmissionFacts, n: u8, of_key: KeyFacts) {
    facts.keys.insert(key(n), Arc::new(of_key));
}

fn send(n: u8) -> Command {
    let meta = EnvelopeMeta {
        id: EnvelopeId::new(NOW, [n; 10]),
        sender: key(1),
        recipient: key(2),
        suite: Suite::Hybrid,
        hash: EnvelopeHash([n; 32]),
        payload_size_bytes: 1,
        timestamp: NOW,
        context: MessageContext::default(),
        trace: None,
    };
    let envelope = Envelope { meta, sealed: vec![n], signature: [0; 64] };
    let pending = PendingEnvelope {
        envelope: Arc::new(envelope),
        leaf: [n; 32],
        channel: None,
        handle: None,
        sealing_version: 1,
    };
    Command {
        purpose: Purpose::Send,
        caller: CallerId { session: TOKEN, key: key(1) },
        idempotency: None,
        pending: Some(pending),
        refusal: None,
    }
}

/// Returns a group of its own for each command.
fn groups(commands: &[Command]) -> Vec<CommandGroup> {
    commands.iter().cloned().map(CommandGroup::from).collect()
}

/// Decides single requests, with enough storage for all of them.
fn decide(facts: AdmissionFacts, commands: &[Command]) -> (Vec<Decided>, WriteSet) {
    decide_with(facts, commands, lease(9), &mut StorageRoom::default())
}

fn decide_with(
    facts: AdmissionFacts,
    commands: &[Command],
    lease: BatchLease,
    room: &mut StorageRoom,
) -> (Vec<Decided>, WriteSet) {
    let groups = groups(commands);
    let groups: Vec<_> = groups.iter().collect();
    let (decided, changes) = super::decide(facts, &groups, TIMES, node(lease), room);
    (decided.into_iter().flatten().collect(), changes)
}

/// Decides one batch of messages.
fn decide_group(facts: AdmissionFacts, group: &CommandGroup) -> (Vec<Decided>, WriteSet) {
    let room = &mut StorageRoom::default();
    let (mut decided, changes) = super::decide(facts, &[group], TIMES, node(lease(99)), room);
    (decided.remove(0), changes)
}

/// Returns a batch with an idempotency key. Batches with the same `content` have the same fingerprint.
fn batch(commands: Vec<Command>, content: u8) -> CommandGroup {
    let key = IdempotencyKey::parse("batch").unwrap();
    let batch_key = Some(Idempotency { key, fingerprint: Fingerprint([content; 32]) });
    CommandGroup { commands, batch_key }
}

fn lease(capacity: usize) -> BatchLease {
    BatchLease { capacity, token: LeaseToken(7), until: NOW }
}

fn node(lease: BatchLease) -> BatchNode<'static> {
    BatchNode { lease, sales_contact: Some(SALES_CONTACT) }
}

fn verdict(facts: AdmissionFacts, command: &Command) -> Verdict {
    decide(facts, slice::from_ref(command)).0.remove(0).verdict
}

fn verdicts(decided: &[Decided]) -> Vec<Verdict> {
    decided.iter().map(|decided| decided.verdict.clone()).collect()
}

/// Returns a send with an idempotency key. Sends with the same `message` have the same fingerprint (hash of the
/// content).
fn named(n: u8, name: &str, message: u8) -> Command {
    let fingerprint = Fingerprint([message; 32]);
    let key = IdempotencyKey::parse(name).unwrap();
    Command { idempotency: Some(Idempotency { key, fingerprint }), ..send(n) }
}

fn remembered(at: Timestamp, message: u8, meta: &EnvelopeMeta) -> IdempotencyRecord {
    IdempotencyRecord { at, fingerprint: Fingerprint([message; 32]), result: result_of(meta) }
}

fn result_of(meta: &EnvelopeMeta) -> IdempotencyResult<EnvelopeMeta> {
    IdempotencyResult::Send { envelope: meta.clone(), state: ReceiptState::Sent }
}

fn replayed(meta: &EnvelopeMeta) -> Verdict {
    Verdict::Replayed(result_of(meta))
}

const STORED: Verdict = Verdict::Stored(ReceiptState::Sent);

fn enterprise(per_month: u32, allow_overage: bool) -> Plan {
    let (per_minute, per_day, per_second) = (100, 100, 100);
    let terms = EnterpriseTerms { per_minute, per_day, per_month, per_second, allow_overage };
    Plan::Enterprise(terms)
}

fn blocked() -> GovernanceStanding {
    GovernanceStanding(vec![GovernanceReason {
        kind: GovernanceKind::CouncilAction,
        status: GovernanceStatus::Enforced,
        reason: "spam".to_owned(),
        since: NOW,
    }])
}

/// Returns the rows of [`facts`], with a policy of Bob as a recipient.
fn with_policy(policy: RecipientPolicy) -> AdmissionFacts {
    let mut facts = facts();
    let bob = KeyFacts { policy: Some(Arc::new(policy)), ..key_facts(account(2)) };
    facts.keys.insert(key(2), Arc::new(bob));
    facts
}

/// Sets the number of requests of Alice in this minute. Her plan allows 20.
fn set_used(facts: &mut AdmissionFacts, used: u32) {
    let start = Timestamp::from_millis(NOW.as_millis() / 60_000 * 60_000);
    let minute = WindowUse { start, used };
    facts.usage.insert(key(1), Usage { minute, ..Usage::UNUSED });
}

/// Returns a send through channel `n` (a shared key encapsulation).
fn in_channel(n: u8) -> Command {
    let channel = Channel {
        id: ChannelId::new(NOW, [n; 10]),
        sender: key(1),
        recipient: key(2),
        sealing_version: 1,
        encapsulation: vec![n],
        signature: [n; 64],
    };
    let mut command = send(n);
    command.pending.as_mut().unwrap().channel = Some(Arc::new(channel));
    command
}

#[test]
fn a_channel_is_stored_once_with_its_first_stored_envelope() {
    let stale = |n| {
        let mut command = in_channel(n);
        command.pending.as_mut().unwrap().sealing_version = 9;
        command
    };
    let commands = [stale(3), in_channel(2), send(1), in_channel(1), in_channel(2)];
    let (decided, changes) = decide(facts(), &commands);
    let stored = [Verdict::Stale, STORED, STORED, STORED, STORED];
    assert_eq!(verdicts(&decided), stored);
    let ids: Vec<_> = changes.channels.iter().map(|channel| channel.id).collect();
    assert_eq!(ids, [1, 2].map(|n| ChannelId::new(NOW, [n; 10])));
}

/// Starts with all faults of caller and recipient. Each step fixes one fault and expects the refusal of the next one.
#[test]
fn faults_are_refused_in_the_order_of_the_contract() {
    let to = Some("to");
    let mut facts = facts();
    facts.sessions.clear();
    let alice = Arc::unwrap_or_clone(facts.keys.remove(&key(1)).unwrap());
    let bob = Arc::unwrap_or_clone(facts.keys.remove(&key(2)).unwrap());
    set_used(&mut facts, 20);
    let step = |facts: &AdmissionFacts| {
        let copy = AdmissionFacts {
            sessions: facts.sessions.clone(),
            keys: facts.keys.clone(),
            usage: facts.usage.clone(),
            webhooks: HashMap::new(),
            idempotency: HashMap::new(),
            contacts: facts.contacts.clone(),
        };
        verdict(copy, &send(1))
    };
    assert_eq!(step(&facts), Verdict::Refused(NO_SESSION));

    let session = Session { token: TOKEN, account_id: account(1), expires_at: NOW };
    facts.sessions.insert(TOKEN, session.clone());
    assert_eq!(step(&facts), Verdict::Refused(NO_SESSION), "a session ends at its expiry");

    let expires_at = Timestamp::from_millis(NOW.as_millis() + 1);
    facts.sessions.insert(TOKEN, Session { expires_at, ..session });
    assert_eq!(step(&facts), Verdict::Refused(Refusal::KeyNotFound { field: None }));

    let status = KeyStatus::Deactivated;
    let faulty = KeyFacts { account_id: account(3), status, standing: blocked(), ..alice.clone() };
    set(&mut facts, 1, faulty.clone());
    assert_eq!(step(&facts), Verdict::Refused(FOREIGN_KEY));

    set(&mut facts, 1, KeyFacts { account_id: account(1), ..faulty.clone() });
    assert_eq!(step(&facts), Verdict::Refused(Refusal::KeyInactive { status, field: None }));

    set(&mut facts, 1, KeyFacts { standing: blocked(), ..alice.clone() });
    assert_eq!(step(&facts), Verdict::Refused(Refusal::GovernanceBlocked { field: None }));

    set(&mut facts, 1, alice);
    assert!(matches!(
        step(&facts),
        Verdict::Refused(Refusal::RateLimited { window: Window::Minute, limit: 20, .. })
    ));

    facts.usage.insert(key(1), Usage::UNUSED);
    assert_eq!(step(&facts), Verdict::Stale, "the cached key of the recipient does not exist");

    let status = KeyStatus::Revoked;
    set(&mut facts, 2, KeyFacts { status, standing: blocked(), ..bob.clone() });
    assert_eq!(step(&facts), Verdict::Refused(Refusal::KeyInactive { status, field: to }));

    set(&mut facts, 2, KeyFacts { standing: blocked(), ..bob.clone() });
    assert_eq!(step(&facts), Verdict::Refused(Refusal::GovernanceBlocked { field: to }));

    let tat = NOW.as_millis() * 1000 + 1_000_000;
    set(&mut facts, 2, bob);
    facts.usage.insert(key(1), Usage { throughput_tat_us: tat, ..Usage::UNUSED });
    assert!(matches!(
        step(&facts),
        Verdict::Refused(Refusal::RateLimited { window: Window::Second, limit: 10, .. })
    ));

    facts.usage.insert(key(1), Usage::UNUSED);
    assert_eq!(step(&facts), Verdict::Stored(ReceiptState::Waiting));
}

#[test]
fn each_command_of_a_batch_gets_its_own_verdict_and_counts_for_the_next() {
    let commands: Vec<Command> = (0..12).map(send).collect();
    let (decided, changes) = decide_with(facts(), &commands, lease(3), &mut StorageRoom::default());
    let limits: Vec<_> = decided.iter().map(|decided| decided.limits.unwrap().usage).collect();
    assert_eq!((limits[0].minute.used, limits[9].minute.used, limits[11].minute.used), (1, 10, 10));
    let verdicts = verdicts(&decided);
    // The plan allows ten messages per second with a burst of one second, and all messages have the same time.
    assert!(verdicts[..10].iter().all(|verdict| *verdict == STORED));
    assert!(verdicts[10..].iter().all(|verdict| matches!(verdict, Verdict::Refused(_))));
    assert_eq!(changes.envelopes.len(), 10);
    // The log gets only the hashes of the stored envelopes, in the order of the envelopes.
    let leaves: Vec<_> = changes.envelopes.iter().map(|it| it.meta.hash.0).collect();
    assert_eq!(changes.leaves, leaves.concat());
    assert_eq!((changes.leased.len(), changes.unleased.len()), (3, 7), "capacity for three");
    // A send that is refused by one limit does not count against the other limits.
    let [(caller, usage)] = changes.usage[..] else { panic!("one caller") };
    assert_eq!((caller, usage.minute.used, usage.month.used), (key(1), 10, 10));
}

#[test]
fn a_changed_recipient_is_stale_and_not_counted() {
    let bob = Handle::parse("bob").unwrap();
    let mut by_handle = send(1);
    by_handle.pending.as_mut().unwrap().handle = Some(bob.clone());
    assert_eq!(verdict(facts(), &by_handle), Verdict::Stale, "the handle leads elsewhere");

    let mut named = facts();
    set(&mut named, 2, KeyFacts { handle: Some(bob), ..key_facts(account(2)) });
    assert_eq!(verdict(named, &by_handle), STORED);

    let mut rotated = facts();
    set(&mut rotated, 2, KeyFacts { sealing_version: 2, ..key_facts(account(2)) });
    let (decided, changes) = decide(rotated, &[send(1)]);
    assert_eq!(verdicts(&decided), [Verdict::Stale]);
    assert!(changes.usage.is_empty() && changes.envelopes.is_empty(), "nothing is to be written");
}

#[test]
fn a_batch_queries_each_key_once_in_the_order_of_ids() {
    let commands = [send(3), send(1), send(2)];
    let groups = groups(&commands);
    let asked = facts_query(&groups.iter().collect::<Vec<_>>());
    assert_eq!(asked.sessions, [TOKEN]);
    assert_eq!(asked.callers, [key(1)]);
    assert_eq!(asked.recipients, [key(2)]);
}

#[test]
fn a_repeated_request_is_replayed_and_stored_once_also_within_a_batch() {
    let commands = [named(1, "a", 7), named(2, "a", 7), named(3, "a", 8), named(4, "b", 7)];
    let (decided, changes) = decide(facts(), &commands);
    let first = commands[0].pending.as_ref().unwrap().envelope.meta.clone();
    assert_eq!(
        verdicts(&decided),
        [STORED, replayed(&first), Verdict::Refused(Refusal::IdempotencyKeyReused), STORED,]
    );
    assert_eq!((changes.envelopes.len(), changes.idempotency.len()), (2, 2));
    let usage = changes.usage[0].1;
    assert_eq!((usage.minute.used, usage.month.used), (4, 2), "a replay is a request, no message");
}

#[test]
fn a_replay_needs_no_recipient() {
    let first = send(1).pending.unwrap().envelope.meta.clone();
    let mut facts = facts();
    let name = IdempotencyKey::parse("a").unwrap();
    facts.idempotency.insert((key(1), name), remembered(NOW, 7, &first));
    set(&mut facts, 2, KeyFacts { status: KeyStatus::Revoked, ..key_facts(account(2)) });
    assert_eq!(verdict(facts, &named(2, "a", 7)), replayed(&first));
}

#[test]
fn an_expired_idempotency_record_is_not_replayed_and_does_not_conflict() {
    let first = send(1).pending.unwrap().envelope.meta.clone();
    let name = IdempotencyKey::parse("a").unwrap();
    let last = LONG_AGO.minus(Duration::from_millis(1));
    for (at, message, expected) in [
        (LONG_AGO, 7, replayed(&first)),
        (LONG_AGO, 8, Verdict::Refused(Refusal::IdempotencyKeyReused)),
        (last, 7, STORED),
        (last, 8, STORED),
    ] {
        let mut facts = facts();
        facts.idempotency.insert((key(1), name.clone()), remembered(at, 7, &first));
        assert_eq!(verdict(facts, &named(2, "a", message)), expected);
    }
    // The new record must apply to later commands of the batch.
    let mut facts = facts();
    facts.idempotency.insert((key(1), name.clone()), remembered(last, 7, &first));
    let (second, third) = (named(2, "a", 8), named(3, "a", 8));
    let stored = second.pending.as_ref().unwrap().envelope.meta.clone();
    let (decided, changes) = decide(facts, &[second, third]);
    assert_eq!(verdicts(&decided), [STORED, replayed(&stored)]);
    let [one] = &changes.idempotency[..] else { panic!("{changes:?}") };
    assert_eq!((one.at, one.expired_before), (NOW, LONG_AGO));
    let result = IdempotencyResult::Send { envelope: stored.id, state: ReceiptState::Sent };
    assert_eq!(one.result, result);
}

#[test]
fn overage_is_admitted_and_recorded() {
    let mut facts = facts();
    set(&mut facts, 1, KeyFacts { plan: enterprise(1, true), ..key_facts(account(1)) });
    let commands: Vec<Command> = (0..3).map(send).collect();
    let (_, changes) = decide(facts, &commands);
    assert_eq!(changes.envelopes.len(), 3);
    let month = changes.usage[0].1.month.start;
    assert_eq!(changes.overage, [OverageCount { key: key(1), month, messages: 2 }]);
}

#[test]
fn a_batch_reports_each_threshold_that_it_reaches_once() {
    let start = Timestamp::from_millis(NOW.as_millis() / 86_400_000 * 86_400_000);
    let mut facts = facts();
    let mut usage = Usage::UNUSED;
    usage.day = WindowUse { start, used: 798 };
    facts.usage.insert(key(1), usage);
    let (_, changes) = decide(facts, &[1, 2, 3].map(send));
    assert_eq!(changes.usage[0].1.day.used, 801);
    let [reached] = &changes.thresholds[..] else { panic!("{:?}", changes.thresholds) };
    assert_eq!((reached.window_start, reached.at), (start, NOW));
    let UsageThreshold { window, threshold, used, limit, .. } = reached.details;
    assert_eq!((window, threshold, used, limit), (ThresholdWindow::Day, 80, 801, 1000));
}

#[test]
fn a_webhook_receives_only_the_events_that_it_names() {
    let mut facts = facts();
    let named = facts.webhooks[&key(2)].0[0].clone();
    let unnamed = |is_active| RecipientWebhook { events: vec![], is_active, ..named.clone() };
    let webhooks = vec![unnamed(true), named.clone(), unnamed(false)];
    facts.webhooks.insert(key(2), Arc::new(RecipientWebhooks(webhooks)));
    let (_, changes) = decide(facts, &[send(1)]);
    assert_eq!(changes.envelopes.len(), 1);
    let targets: Vec<_> = changes.leased.iter().map(|delivery| &delivery.target).collect();
    assert_eq!(targets, [&named.target]);
    assert!(changes.unleased.is_empty() && changes.parked.is_empty());
}

#[test]
fn deliveries_to_a_disabled_webhook_are_parked() {
    let mut facts = facts();
    let enabled = facts.webhooks[&key(2)].0[0].clone();
    let webhook_id = enabled.target.webhook_id;
    let disabled = RecipientWebhook { is_active: false, ..enabled };
    facts.webhooks.insert(key(2), Arc::new(RecipientWebhooks(vec![disabled])));
    let command = send(1);
    let event_id = command.pending.as_ref().unwrap().envelope.meta.id.into();
    let (_, changes) = decide(facts, &[command]);
    let parked = ParkedDelivery { id: DeliveryId { event_id, webhook_id }, event_at: NOW };
    assert_eq!(changes.parked, [parked]);
    assert!(changes.leased.is_empty() && changes.unleased.is_empty());
}

#[test]
fn the_byte_quota_is_checked_after_the_recipient_and_before_the_limits() {
    let stored = || HashMap::from([(account(1), 99)]);
    let room = || StorageRoom { bytes_max: Some(100), stored: stored(), ..StorageRoom::default() };
    let commands = [1, 2].map(send);
    let mut of_batch = room();
    let (decided, changes) = decide_with(facts(), &commands, lease(9), &mut of_batch);
    let refusal = Refusal::StorageQuotaExceeded { limit_bytes: 100 };
    assert_eq!(verdicts(&decided), [STORED, Verdict::Refused(refusal)]);
    assert_eq!(of_batch.stored, HashMap::from([(account(1), 100)]));
    let (_, used) = changes.usage[0];
    assert_eq!((used.minute.used, used.month.used), (2, 1), "a refused send counts as a request");

    let mut revoked = facts();
    set(&mut revoked, 2, KeyFacts { status: KeyStatus::Revoked, ..key_facts(account(2)) });
    let mut full = StorageRoom { bytes_max: Some(0), ..room() };
    let (decided, _) = decide_with(revoked, &[send(1)], lease(9), &mut full);
    let refusal = Refusal::KeyInactive { status: KeyStatus::Revoked, field: Some("to") };
    assert_eq!(verdicts(&decided), [Verdict::Refused(refusal)]);
}

#[test]
fn without_free_space_nothing_is_stored_or_counted_but_replays_are_returned() {
    let full = || StorageRoom { is_short_of_space: true, ..StorageRoom::default() };
    let mut facts = facts();
    let first = named(1, "name", 1);
    let meta = first.pending.as_ref().unwrap().envelope.meta.clone();
    let name = first.idempotency.clone().unwrap().key;
    facts.idempotency.insert((key(1), name), remembered(NOW, 1, &meta));
    let commands = [send(2), first];
    let (decided, changes) = decide_with(facts, &commands, lease(9), &mut full());
    let expected = [Verdict::Refused(Refusal::StorageFull), replayed(&meta)];
    assert_eq!(verdicts(&decided), expected);
    assert!(changes.envelopes.is_empty() && changes.leased.is_empty());
    let (_, used) = changes.usage[0];
    assert_eq!(used.minute.used, 1, "only the replay counts");
}

#[test]
fn a_refused_send_counts_as_a_request_alone() {
    let blocked = BTreeSet::from([key(1)]);
    let facts = with_policy(RecipientPolicy { blocked, ..RecipientPolicy::default() });
    let (decided, changes) = decide(facts, &[1, 2].map(send));
    let refused = Verdict::Refused(Refusal::RecipientRefuses);
    assert_eq!(verdicts(&decided), [refused.clone(), refused]);
    assert!(changes.envelopes.is_empty() && changes.leased.is_empty());
    let (_, usage) = changes.usage[0];
    assert_eq!((usage.minute.used, usage.month.used), (2, 0));
}

#[test]
fn a_contact_is_accepted_and_a_stranger_refused() {
    let policy = RecipientPolicy { accept: AcceptPolicy::Contacts, ..RecipientPolicy::default() };
    let stranger = with_policy(policy.clone());
    assert_eq!(verdict(stranger, &send(1)), Verdict::Refused(Refusal::RecipientRefuses));
    let contacts = HashSet::from([(key(2), key(1))]);
    let contact = AdmissionFacts { contacts, ..with_policy(policy) };
    assert_eq!(verdict(contact, &send(1)), STORED);
}

/// Contacts are read for every refusal by a policy. Otherwise the duration of the request would reveal the reason for
/// the refusal.
#[test]
fn contacts_are_read_for_every_refusal_and_for_no_other_send() {
    let policies = AcceptPolicy::ALL.map(|accept| {
        let policy = RecipientPolicy { accept, ..RecipientPolicy::default() };
        (accept, policy)
    });
    let command = send(1);
    assert_eq!(contacts_query(&facts(), &[&command]), []);
    for (accept, policy) in policies {
        let open = contacts_query(&with_policy(policy.clone()), &[&command]);
        assert_eq!(open.is_empty(), accept == AcceptPolicy::Anyone, "{accept:?}");
        let blocked = RecipientPolicy { blocked: BTreeSet::from([key(1)]), ..policy };
        assert_eq!(contacts_query(&with_policy(blocked), &[&command]), [(key(2), key(1))]);
    }
}

#[test]
fn a_sender_with_contacts_records_each_recipient_once() {
    let mut facts = facts();
    let policy = RecipientPolicy { records_contacts: true, ..RecipientPolicy::default() };
    let alice = KeyFacts { policy: Some(Arc::new(policy)), ..key_facts(account(1)) };
    facts.keys.insert(key(1), Arc::new(alice));
    let (_, changes) = decide(facts, &[1, 2].map(send));
    let contact = Contact { api_key_id: key(1), contact: key(2), sent_at: NOW };
    assert_eq!(changes.contacts, [contact]);
}

/// Tests that the state in the response is that of a receipt, under the policy of the recipient.
#[test]
fn a_stored_envelope_has_the_state_that_the_recipient_shows() {
    use ReceiptState::{Sent, Waiting};
    for (receipts, with_webhook, without) in [
        (ReceiptPolicy::None, Sent, Sent),
        (ReceiptPolicy::Notified, Sent, Waiting),
        (ReceiptPolicy::Opened, Sent, Waiting),
    ] {
        let facts = || with_policy(RecipientPolicy { receipts, ..RecipientPolicy::default() });
        assert_eq!(verdict(facts(), &send(1)), Verdict::Stored(with_webhook));
        let waiting = AdmissionFacts { webhooks: HashMap::new(), ..facts() };
        assert_eq!(verdict(waiting, &send(1)), Verdict::Stored(without));
    }
}

#[test]
fn a_limit_accepts_the_first_messages_of_a_batch() {
    let mut facts = facts();
    set_used(&mut facts, 16);
    let (decided, changes) = decide_group(facts, &batch((1..=7).map(send).collect(), 1));
    let verdicts = verdicts(&decided);
    assert!(verdicts[..4].iter().all(|verdict| *verdict == STORED), "{verdicts:?}");
    for refused in &verdicts[4..] {
        let Verdict::Refused(refusal) = refused else { panic!("{verdicts:?}") };
        assert_eq!(refusal.code(), Code::RateLimitExceeded);
    }
    assert_eq!(refusal_of(&decided), None);
    assert_eq!((changes.envelopes.len(), changes.idempotency.len()), (4, 1));
    assert_eq!(changes.usage[0].1.minute.used, 20);
    assert_eq!(changes.usage[0].1.month.used, 4);
}

#[test]
fn a_batch_without_any_admitted_message_is_refused_as_a_whole() {
    let mut facts = facts();
    set_used(&mut facts, 20);
    let (decided, changes) = decide_group(facts, &batch(vec![send(1), send(2)], 1));
    assert_eq!(refusal_of(&decided).unwrap().code(), Code::RateLimitExceeded);
    assert!(changes.idempotency.is_empty() && changes.envelopes.is_empty());
    let closed = AdmissionFacts { sessions: HashMap::new(), ..super::tests::facts() };
    let (decided, _) = decide_group(closed, &batch(vec![send(1), send(2)], 1));
    assert_eq!(refusal_of(&decided), Some(&NO_SESSION));
}

/// Tests that the record of a batch contains the result of each message, also of a refused one.
#[test]
fn a_repeated_batch_gets_its_results_and_stores_nothing() {
    let refusal = Refusal::MissingField { field: "message" };
    let faulty = Command { pending: None, refusal: Some(refusal), ..send(2) };
    let commands = vec![send(1), faulty, send(3)];
    let envelopes: Vec<_> = commands
        .iter()
        .map(|command| Some(Arc::clone(&command.pending.as_ref()?.envelope)))
        .collect();
    let first = batch(commands, 1);
    let (decided, mut changes) = decide_group(facts(), &first);
    let results = results_of(&envelopes, &decided).unwrap();
    let record = changes.idempotency.remove(0);
    let IdempotencyResult::Batch(stored) = record.result.clone() else { panic!("{record:?}") };
    assert_eq!(serde_json::from_str::<Vec<BatchResult>>(&stored).unwrap(), results);
    assert!(matches!(
        &results[..],
        [
            BatchResult::Sent(_),
            BatchResult::Refused(RefusedMessage { code: Code::MissingField, .. }),
            BatchResult::Sent(_),
        ]
    ));

    let repeated = |content| {
        let mut facts = facts();
        let result = IdempotencyResult::Batch(Arc::clone(&stored));
        let earlier = IdempotencyRecord { at: NOW, fingerprint: record.fingerprint, result };
        facts.idempotency.insert((key(1), record.key.clone()), earlier);
        decide_group(facts, &batch(vec![send(4), send(5)], content))
    };
    let (decided, changes) = repeated(1);
    let replayed = Verdict::Replayed(IdempotencyResult::Batch(Arc::clone(&stored)));
    assert_eq!(verdicts(&decided), [replayed.clone(), replayed]);
    assert!(changes.envelopes.is_empty() && changes.idempotency.is_empty());
    assert_eq!(changes.usage[0].1.minute.used, 2, "each message counts as a request");
    let (decided, changes) = repeated(2);
    assert_eq!(refusal_of(&decided), Some(&Refusal::IdempotencyKeyReused));
    assert!(changes.envelopes.is_empty() && changes.idempotency.is_empty());
}

#[test]
fn one_stale_message_makes_the_whole_batch_stale() {
    let mut stale = send(2);
    stale.pending.as_mut().unwrap().sealing_version = 9;
    let mut without_recipient = facts();
    without_recipient.keys.remove(&key(2));
    for (facts, second) in [(facts(), stale), (without_recipient, send(2))] {
        let (decided, changes) = decide_group(facts, &batch(vec![send(1), second, send(3)], 1));
        assert_eq!(verdicts(&decided), [Verdict::Stale, Verdict::Stale, Verdict::Stale]);
        assert!(changes.envelopes.is_empty() && changes.usage.is_empty());
        assert!(changes.idempotency.is_empty());
    }
}

#[test]
fn the_record_of_a_batch_names_the_sales_contact() {
    let mut facts = facts();
    set(&mut facts, 1, KeyFacts { plan: enterprise(0, false), ..key_facts(account(1)) });
    let (_, changes) = decide_group(facts, &batch(vec![send(1)], 1));
    let record = &changes.idempotency[0];
    let IdempotencyResult::Batch(stored) = &record.result else { panic!("{record:?}") };
    assert!(stored.contains(SALES_CONTACT), "{stored}");
}

#[test]
fn without_disk_space_a_batch_is_refused_as_a_whole() {
    let mut room = StorageRoom { is_short_of_space: true, ..StorageRoom::default() };
    let group = batch(vec![send(1), send(2)], 1);
    let (decided, changes) = super::decide(facts(), &[&group], TIMES, node(lease(9)), &mut room);
    assert_eq!(refusal_of(&decided[0]), Some(&Refusal::StorageFull));
    assert!(changes.idempotency.is_empty() && changes.usage.is_empty());
}

#[test]
fn a_batch_with_a_stored_message_is_never_refused_as_a_whole() {
    let unavailable = Command { pending: None, refusal: Some(Refusal::Unavailable), ..send(2) };
    let (decided, changes) = decide_group(facts(), &batch(vec![send(1), unavailable], 1));
    assert_eq!(verdicts(&decided), [STORED, Verdict::Refused(Refusal::Unavailable)]);
    assert_eq!(refusal_of(&decided), None);
    assert_eq!((changes.envelopes.len(), changes.idempotency.len()), (1, 1));
}
