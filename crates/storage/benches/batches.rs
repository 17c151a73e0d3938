//! What the send path's batches cost: `cargo bench -p sealpost-storage`.
//!
//! Every batch does what a committer does: it locks the facts of its callers and recipients, stores an envelope of
//! 1,400 sealed bytes and a leased delivery each, counts usage, and commits durably. Then its deliveries are settled, so
//! that the queue stays as short as it is in life. PostgreSQL is a private server that forces every commit to the disk.
#![expect(clippy::expect_used, reason = "a benchmark that cannot run stops")]

use std::{sync::Arc, time::Duration};

use criterion::{BatchSize, BenchmarkId, Criterion, Throughput};
use sealpost_domain::{
    Account, AccountId, ApiKey, ApiKeyId, AttemptResult, Did, Envelope, EnvelopeHash, EnvelopeId,
    EnvelopeMeta, EventKind, KeyStatus, Label, LeaseToken, LeasedDelivery, Outcome, Plan, Session,
    Suite, Timestamp, TokenHash, Webhook, WebhookId, WebhookStatus, Wrapped,
    ports::{
        AdmissionFacts, Claim, Durability, FactsQuery, Outbox as _, Store, StoreError, WriteSet,
    },
};
use sealpost_storage::{Database, Settings};

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let server = sealpost_testkit::Server::start(sealpost_testkit::FsyncMode::On);
    let server = server.expect("a PostgreSQL can be started");
    let sqlite = format!("sqlite:{}", folder.path().join("batches.db").display());
    for (name, url) in [("SQLite", sqlite), ("PostgreSQL", server.create_database())] {
        let url = url.parse().expect("a database's address");
        let database = Database::open(&url, Settings::default()).expect("the database opens");
        database.migrate().expect("a fresh database can be migrated");
        let mut load = Load::new(&database);
        for size in [1, 16, 64, 256] {
            send_and_settle(&mut criterion, name, &mut load, size);
        }
        claim_and_settle(&mut criterion, name, &mut load);
    }
    criterion.final_summary();
}

fn send_and_settle(criterion: &mut Criterion, name: &str, load: &mut Load<'_>, size: u32) {
    let mut group = criterion.benchmark_group(format!("{name}: store a batch, settle it"));
    group.throughput(Throughput::Elements(size.into()));
    group.bench_with_input(BenchmarkId::from_parameter(size), &size, |bencher, size| {
        let database = load.database;
        let store: &dyn Store = database;
        bencher.iter_batched(
            || load.batch(*size),
            |batch| {
                store
                    .write(Durability::Durable, |tx| {
                        let facts = tx.lock_batch_facts(&batch.wanted)?;
                        tx.apply(&batch.changes(facts)?)
                    })
                    .and_then(|()| settle(database, &batch.leased))
                    .expect("the batch can be stored");
            },
            BatchSize::SmallInput,
        );
    });
    group.finish();
}

/// Deliveries that nobody holds, as after a restart.
fn claim_and_settle(criterion: &mut Criterion, name: &str, load: &mut Load<'_>) {
    let mut group = criterion.benchmark_group(format!("{name}: claim what is due, settle it"));
    group.throughput(Throughput::Elements(CLAIMED.into()));
    group.bench_function(BenchmarkId::from_parameter(CLAIMED), |bencher| {
        let database = load.database;
        let store: &dyn Store = database;
        bencher.iter_batched(
            || {
                let Batch { envelopes, leased: unleased, .. } = load.batch(CLAIMED);
                let changes = WriteSet { envelopes, unleased, ..WriteSet::default() };
                store
                    .write(Durability::Relaxed, |tx| tx.apply(&changes))
                    .expect("the batch can be stored");
            },
            |()| {
                let taken = database.claim(&claim()).expect("the database answers");
                settle(database, &taken).expect("what was claimed can be settled");
            },
            BatchSize::PerIteration,
        );
    });
    group.finish();
}

fn settle(database: &Database, held: &[LeasedDelivery]) -> Result<(), StoreError> {
    database.settle(&held.iter().map(success).collect::<Vec<_>>(), FAILING_MAX)
}

/// Far enough in time that every envelope is due.
fn claim() -> Claim {
    let now = NOW.plus(Duration::from_hours(24 * 365));
    let limit = usize::try_from(CLAIMED).unwrap_or(usize::MAX);
    let lease_until = now.plus(Duration::from_secs(90));
    Claim { now, limit, per_target_max: limit, lease: LeaseToken(9), lease_until }
}

/// Senders and recipients, and how many envelopes there were.
struct Load<'a> {
    database: &'a Database,
    people: Vec<Person>,
    sent: u32,
}

/// What a committer is given, and what it decides.
struct Batch {
    wanted: FactsQuery,
    envelopes: Vec<Arc<Envelope>>,
    leased: Vec<LeasedDelivery>,
}

impl<'a> Load<'a> {
    fn new(database: &'a Database) -> Self {
        let store: &dyn Store = database;
        let people: Vec<_> = (0..KEYS).map(Person::new).collect();
        store
            .write(Durability::Durable, |tx| {
                people.iter().try_for_each(|person| {
                    tx.insert_account(&person.account)?;
                    tx.insert_key(&person.key)?;
                    tx.insert_session(&person.session)?;
                    tx.insert_webhook(&person.webhook)
                })
            })
            .expect("the database can be filled");
        Self { database, people, sent: 0 }
    }

    fn batch(&mut self, size: u32) -> Batch {
        let mut wanted = FactsQuery::default();
        let (mut envelopes, mut leased) = (Vec::new(), Vec::new());
        for _ in 0..size {
            self.sent += 1;
            let (sender, recipient) = (self.person(self.sent), self.person(self.sent / 7));
            let envelope = envelope(self.sent, sender.key.id, recipient.key.id);
            leased.push(delivery(&envelope, &recipient.webhook));
            envelopes.push(Arc::new(envelope));
            wanted.sessions.push(sender.session.token);
            wanted.callers.push(sender.key.id);
            wanted.recipients.push(recipient.key.id);
        }
        sort(&mut wanted.sessions);
        sort(&mut wanted.callers);
        sort(&mut wanted.recipients);
        Batch { wanted, envelopes, leased }
    }

    fn person(&self, turn: u32) -> &Person {
        let place = usize::try_from(turn % KEYS).expect("a small number");
        self.people.get(place).expect("there are so many")
    }
}

impl Batch {
    fn changes(&self, facts: AdmissionFacts) -> Result<WriteSet, StoreError> {
        if facts.sessions.len() != self.wanted.sessions.len() || facts.webhooks.is_empty() {
            return Err(StoreError::Corrupt("load"));
        }
        let usage = facts.usage.into_iter().map(|(key, mut used)| {
            used.month.used += 1;
            (key, used)
        });
        Ok(WriteSet {
            envelopes: self.envelopes.clone(),
            leased: self.leased.clone(),
            usage: usage.collect(),
            ..WriteSet::default()
        })
    }
}

struct Person {
    account: Account,
    key: ApiKey,
    session: Session,
    webhook: Webhook,
}

impl Person {
    fn new(number: u32) -> Self {
        let account_id = AccountId::new(NOW, random(number));
        let token = TokenHash([u8::try_from(number).expect("few keys"); 32]);
        let id = ApiKeyId::new(NOW, random(number));
        let key = ApiKey {
            id,
            account_id,
            label: Label::parse("load").expect("a sane label"),
            handle: None,
            did: Did::new("did:key:z6Mk".to_owned()),
            status: KeyStatus::Active,
            plan: Plan::Sovereign,
            root: Some(Wrapped(vec![7; 61])),
            sealing_version: 1,
            created_at: NOW,
        };
        let webhook = Webhook {
            id: WebhookId::new(NOW, random(number)),
            api_key_id: id,
            url: "https://example.org/hook".to_owned(),
            events: vec![EventKind::EnvelopeReceived],
            secret: Wrapped(vec![7; 61]),
            retiring: Vec::new(),
            status: WebhookStatus::Enabled,
            disabled_reason: None,
            failing_since: None,
            created_at: NOW,
            last_success_at: None,
            last_failure: None,
        };
        Self {
            account: Account { id: account_id, login_secret: token, created_at: NOW },
            key,
            session: Session { token, account_id, expires_at: NOW },
            webhook,
        }
    }
}

fn envelope(number: u32, sender: ApiKeyId, recipient: ApiKeyId) -> Envelope {
    Envelope {
        meta: EnvelopeMeta {
            id: EnvelopeId::new(NOW.plus(Duration::from_millis(number.into())), random(number)),
            sender,
            recipient,
            suite: Suite::Hybrid,
            hash: EnvelopeHash([1; 32]),
            payload_size_bytes: 1400,
            timestamp: NOW,
        },
        sealed: vec![0x5A; SEALED],
        signature: [2; 64],
    }
}

fn delivery(envelope: &Envelope, to: &Webhook) -> LeasedDelivery {
    LeasedDelivery {
        meta: Arc::new(envelope.meta.clone()),
        target: Arc::new(sealpost_domain::Target {
            webhook_id: to.id,
            url: to.url.clone(),
            secret: to.secret.clone(),
            retiring: Vec::new(),
        }),
        attempts: 0,
        lease: LeaseToken(1),
        lease_until: NOW.plus(Duration::from_mins(1)),
    }
}

fn success(held: &LeasedDelivery) -> AttemptResult {
    let (id, lease, outcome) = (held.id(), held.lease, Outcome::Succeeded);
    AttemptResult { id, lease, attempts: 1, at: NOW, duration_ms: 1, response: None, outcome }
}

fn random(number: u32) -> [u8; 10] {
    let [a, b, c, d] = number.to_be_bytes();
    [a, b, c, d, 0x9E, 0x37, 0x79, 0xB9, 0x7F, 0x4A]
}

fn sort<T: Ord>(ids: &mut Vec<T>) {
    ids.sort_unstable();
    ids.dedup();
}

/// Nothing fails here.
const FAILING_MAX: Duration = Duration::from_hours(1);
const KEYS: u32 = 64;
const CLAIMED: u32 = 256;
const SEALED: usize = 1400;
const NOW: Timestamp = Timestamp::from_millis(1_767_225_600_000);
