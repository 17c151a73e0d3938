//! Benchmarks of the batches of the send path: `cargo bench -p sealpost-storage`.
//!
//! Every batch locks the rows that admission depends on, stores envelopes of 1,400 sealed bytes with a leased delivery
//! each, counts usage, and commits durably. Then the outcomes of the deliveries are recorded, so that the queue stays
//! short. The PostgreSQL server is private and forces every commit to the disk.
#![expect(clippy::expect_used, reason = "a benchmark that cannot run stops")]

use std::{sync::Arc, time::Duration};

use criterion::{BatchSize, BenchmarkId, Criterion, Throughput};
use sealpost_domain::{
    Account, AccountId, AccountSecrets, ApiKey, ApiKeyId, AttemptResult, Did, Envelope, EnvelopeId,
    EnvelopeMeta, Event, EventKind, KeyStatus, Label, LeaseToken, LeasedDelivery, Outcome, Plan,
    RequestSource, Session, Timestamp, TokenHash, Webhook, WebhookId, WebhookStatus, Wrapped,
    ports::{AdmissionFacts, Claim, Durability, FactsQuery, Outbox as _, StoreError, WriteSet},
};
use sealpost_storage::{Database, Settings};
use sealpost_wallet::Keyring;

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let server = sealpost_testkit::Server::start(sealpost_testkit::FsyncMode::On);
    let server = server.expect("a PostgreSQL can be started");
    let sqlite = format!("sqlite:{}", folder.path().join("batches.db").display());
    for (name, url) in [("SQLite", sqlite), ("PostgreSQL", server.create_database())] {
        let url = url.parse().expect("a database's address");
        let database = Database::open(&url, Settings::default()).expect("the database opens");
        database.authenticate_rows(Arc::new(Keyring::generate(1).expect("random bytes")));
        database.migrate().expect("a fresh database can be migrated");
        let mut load = Load::new(&database);
        for size in [1, 16, 64, 256] {
            send_and_record(&mut criterion, name, &mut load, size);
        }
        claim_and_record(&mut criterion, name, &mut load);
    }
    criterion.final_summary();
}

fn send_and_record(criterion: &mut Criterion, name: &str, load: &mut Load<'_>, size: u32) {
    let mut group = criterion.benchmark_group(format!("{name}: store a batch, record outcomes"));
    group.throughput(Throughput::Elements(size.into()));
    group.bench_with_input(BenchmarkId::from_parameter(size), &size, |bencher, size| {
        let database = load.database;
        bencher.iter_batched(
            || load.batch(*size),
            |batch| {
                database
                    .write(Durability::Durable, |tx| {
                        let facts = tx.lock_facts(&batch.wanted)?;
                        tx.apply(&batch.changes(facts)?)
                    })
                    .and_then(|()| record(database, &batch.leased))
                    .expect("the batch can be stored");
            },
            BatchSize::SmallInput,
        );
    });
    group.finish();
}

/// Measures claiming due deliveries and recording their outcomes. No delivery has a lease, as after a restart of a
/// node.
fn claim_and_record(criterion: &mut Criterion, name: &str, load: &mut Load<'_>) {
    let mut group =
        criterion.benchmark_group(format!("{name}: claim due deliveries, record outcomes"));
    group.throughput(Throughput::Elements(CLAIMED.into()));
    group.bench_function(BenchmarkId::from_parameter(CLAIMED), |bencher| {
        let database = load.database;
        bencher.iter_batched(
            || {
                let Batch { envelopes, leased: unleased, .. } = load.batch(CLAIMED);
                let changes = WriteSet { envelopes, unleased, ..WriteSet::default() };
                database
                    .write(Durability::Relaxed, |tx| tx.apply(&changes))
                    .expect("the batch can be stored");
            },
            |()| {
                let taken = database.claim(&claim()).expect("deliveries can be claimed");
                record(database, &taken).expect("outcomes can be recorded");
            },
            BatchSize::PerIteration,
        );
    });
    group.finish();
}

fn record(database: &Database, held: &[LeasedDelivery]) -> Result<(), StoreError> {
    database.record_outcomes(&held.iter().map(success).collect::<Vec<_>>(), FAILING_MAX)
}

/// Returns the parameters of a claim. At its time, every delivery is due.
fn claim() -> Claim {
    let now = NOW.plus(Duration::from_hours(24 * 365));
    let limit = usize::try_from(CLAIMED).unwrap_or(usize::MAX);
    let lease_until = now.plus(Duration::from_secs(90));
    Claim {
        now,
        oldest: Timestamp::from_millis(0),
        limit,
        per_target_max: limit,
        full: vec![],
        lease: LeaseToken(9),
        lease_until,
    }
}

/// Creates the input of batches: the API keys that send and receive, and the number of envelopes sent so far.
struct Load<'a> {
    database: &'a Database,
    participants: Vec<Participant>,
    sent: u32,
}

/// The input of one batch: the query for the rows that admission depends on, the envelopes, and their deliveries.
struct Batch {
    wanted: FactsQuery,
    envelopes: Vec<Arc<Envelope>>,
    leased: Vec<LeasedDelivery>,
}

impl<'a> Load<'a> {
    fn new(database: &'a Database) -> Self {
        let participants: Vec<_> = (0..KEYS).map(Participant::new).collect();
        database
            .write(Durability::Durable, |tx| {
                participants.iter().try_for_each(|participant| {
                    tx.insert_account(&participant.account)?;
                    tx.insert_key(&participant.key)?;
                    tx.insert_session(
                        &participant.session,
                        Timestamp::from_millis(0),
                        &RequestSource::default(),
                    )?;
                    tx.insert_webhook(&participant.webhook)
                })
            })
            .expect("the database can be filled");
        Self { database, participants, sent: 0 }
    }

    fn batch(&mut self, size: u32) -> Batch {
        let mut wanted = FactsQuery::default();
        let (mut envelopes, mut leased) = (Vec::new(), Vec::new());
        for _ in 0..size {
            self.sent += 1;
            let (sender, recipient) =
                (self.participant(self.sent), self.participant(self.sent / 7));
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

    fn participant(&self, turn: u32) -> &Participant {
        let index = usize::try_from(turn % KEYS).expect("the index fits in usize");
        self.participants.get(index).expect("the index is in range")
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

struct Participant {
    account: Account,
    key: ApiKey,
    session: Session,
    webhook: Webhook,
}

impl Participant {
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
            description: None,
            paused: false,
            created_at: NOW,
            last_success_at: None,
            last_failure: None,
        };
        Self {
            account: Account { id: account_id, secrets: secrets(token), created_at: NOW },
            key,
            session: Session { token, account_id, expires_at: NOW },
            webhook,
        }
    }
}

fn envelope(number: u32, sender: ApiKeyId, recipient: ApiKeyId) -> Envelope {
    let id = EnvelopeId::new(NOW.plus(Duration::from_millis(number.into())), random(number));
    let meta = EnvelopeMeta::example(id, sender, recipient);
    Envelope {
        meta: EnvelopeMeta { payload_size_bytes: 1400, timestamp: NOW, ..meta },
        sealed: vec![0x5A; SEALED],
        signature: [2; 64],
    }
}

fn delivery(envelope: &Envelope, to: &Webhook) -> LeasedDelivery {
    LeasedDelivery {
        event: Event::received(envelope.meta.clone(), None),
        target: Arc::new(sealpost_domain::Target {
            webhook_id: to.id,
            account_id: AccountId::new(NOW, [1; 10]),
            url: to.url.clone(),
            secret: to.secret.clone(),
            retiring: Vec::new(),
        }),
        target_read_at: NOW,
        attempts: 0,
        requested_at: None,
        lease: LeaseToken(1),
        lease_until: NOW.plus(Duration::from_mins(1)),
    }
}

fn success(held: &LeasedDelivery) -> AttemptResult {
    let (id, lease, outcome) = (held.id(), held.lease, Outcome::Succeeded);
    AttemptResult {
        id,
        target: Arc::clone(&held.target),
        lease,
        attempts: 1,
        at: NOW,
        duration_ms: 1,
        response: None,
        error_detail: None,
        outcome,
    }
}

fn random(number: u32) -> [u8; 10] {
    let [a, b, c, d] = number.to_be_bytes();
    [a, b, c, d, 0x9E, 0x37, 0x79, 0xB9, 0x7F, 0x4A]
}

fn sort<T: Ord>(ids: &mut Vec<T>) {
    ids.sort_unstable();
    ids.dedup();
}

/// Time of failures after which a webhook is disabled. Has no effect, because no delivery of the benchmarks fails.
const FAILING_MAX: Duration = Duration::from_hours(1);
const KEYS: u32 = 64;
const CLAIMED: u32 = 256;
const SEALED: usize = 1400;
const NOW: Timestamp = Timestamp::from_millis(1_767_225_600_000);

fn secrets(token: TokenHash) -> AccountSecrets {
    AccountSecrets { login_secret: token, recovery_code: token }
}
