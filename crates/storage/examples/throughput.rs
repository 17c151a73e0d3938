//! How many envelopes a second the send path stores: `cargo run --release -p sealpost-storage --example throughput`.
//!
//! Every batch does what a committer does: it locks the facts of its callers and recipients, stores an envelope of
//! 1,700 sealed bytes and a leased delivery each, counts usage, and commits durably. Then the deliveries are settled.
//! PostgreSQL is a private server that forces every commit to the disk.

use std::{
    collections::BTreeMap,
    error::Error,
    sync::Arc,
    time::{Duration, Instant},
};

use sealpost_domain::{
    Account, AccountId, Answer, ApiKey, ApiKeyId, Did, Envelope, EnvelopeHash, EnvelopeId,
    EnvelopeMeta, EventKind, KeyStatus, Label, LeaseToken, LeasedDelivery, Outcome, Plan,
    Registration, RegistrationStatus, Session, Settlement, Suite, Timestamp, TokenHash, WebhookId,
    Wrapped,
    ports::{Changes, Claim, Durability, Outbox, Store, StoreError, Wanted},
};
use sealpost_storage::{Database, Settings};

type Outcomes<T> = Result<T, Box<dyn Error>>;

const KEYS: u32 = 64;
const SEALED: usize = 1700;
const FAILING_MAX: Duration = Duration::from_hours(120);
const NOW: Timestamp = Timestamp::from_millis(1_767_225_600_000);

#[expect(clippy::print_stdout, reason = "its figures are what it is for")]
fn main() -> Outcomes<()> {
    let folder = tempfile::tempdir()?;
    let server = sealpost_testkit::Server::start(sealpost_testkit::Durability::Fsync)?;
    let sqlite = format!("sqlite:{}", folder.path().join("throughput.db").display());
    for (name, url) in [("SQLite", sqlite), ("PostgreSQL", server.create_database())] {
        let database = Database::open(&url.parse()?, Settings::default())?;
        database.migrate()?;
        let mut load = Load::new(&database)?;
        for (size, batches) in [(1, 2000), (16, 600), (256, 80)] {
            load.send(size, batches / 10)?;
            let figures = load.send(size, batches)?;
            println!("{name}: batches of {size}: {figures}");
        }
        println!("{name}: {}", load.claim()?);
        for (targets, each) in [(1, 10_000), (1000, 100)] {
            println!("{name}: {}", load.drain(targets, each)?);
        }
        println!("{name}: {}", load.crowd()?);
    }
    Ok(())
}

/// Senders and recipients, and how many envelopes there were.
struct Load<'a> {
    database: &'a Database,
    keys: Vec<(ApiKeyId, TokenHash, Registration)>,
    sent: u32,
}

impl<'a> Load<'a> {
    fn new(database: &'a Database) -> Outcomes<Self> {
        let store: &dyn Store = database;
        let people: Vec<_> = (0..KEYS).map(Person::new).collect::<Result<_, _>>()?;
        store.write(Durability::Durable, |tx| {
            people.iter().try_for_each(|person| {
                tx.insert_account(&person.account)?;
                tx.insert_key(&person.key)?;
                tx.insert_session(&person.session)?;
                tx.insert_registration(&person.registration)
            })
        })?;
        let keys = people
            .into_iter()
            .map(|person| (person.key.id, person.session.token, person.registration))
            .collect();
        Ok(Self { database, keys, sent: 0 })
    }

    /// Stores batches, and settles them afterwards.
    fn send(&mut self, size: u32, batches: u32) -> Outcomes<String> {
        let store: &dyn Store = self.database;
        let mut settlements = Vec::new();
        let (mut storing, mut settling) = (Duration::ZERO, Duration::ZERO);
        for _ in 0..batches {
            let (wanted, envelopes, leased) = self.batch(size);
            let begun = Instant::now();
            store.write(Durability::Durable, |tx| {
                commit(&wanted, &envelopes, &leased, tx.lock_facts(&wanted)?, |changes| {
                    tx.apply(changes)
                })
            })?;
            storing += begun.elapsed();
            settlements.extend(leased.iter().map(success));
        }
        let begun = Instant::now();
        for batch in settlements.chunks(256) {
            self.database.settle(batch, FAILING_MAX)?;
        }
        settling += begun.elapsed();
        let rows = f64::from(size) * f64::from(batches);
        Ok(format!(
            "{:.0} envelopes/s, {:.0} us a batch; settled {:.0}/s in batches of up to 256",
            rows / storing.as_secs_f64(),
            storing.as_secs_f64() * 1e6 / f64::from(batches),
            rows / settling.as_secs_f64(),
        ))
    }

    /// Stores deliveries that nobody holds and claims them all.
    fn claim(&mut self) -> Outcomes<String> {
        let store: &dyn Store = self.database;
        for _ in 0..80 {
            let (_, envelopes, unleased) = self.batch(256);
            let changes = Changes { envelopes, unleased, ..Changes::default() };
            store.write(Durability::Durable, |tx| tx.apply(&changes))?;
        }
        let begun = Instant::now();
        let claimed = self.claim_all(NOW)?;
        let rate = f64::from(claimed) / begun.elapsed().as_secs_f64();
        Ok(format!("claimed {rate:.0}/s in batches of 256"))
    }

    /// Claims all that is due to so many targets, each with so many deliveries.
    fn drain(&mut self, targets: u32, each: u32) -> Outcomes<String> {
        self.queue(targets, each, NOW)?;
        let begun = Instant::now();
        let claimed = self.claim_all(NOW)?;
        let rate = f64::from(claimed) / begun.elapsed().as_secs_f64();
        Ok(format!("{claimed} due to {targets} targets claimed {rate:.0}/s"))
    }

    /// What the first claim takes of ten targets' few that are due later than one target's many.
    fn crowd(&mut self) -> Outcomes<String> {
        self.queue(1, 10_000, NOW)?;
        self.queue(10, 5, NOW.plus(Duration::from_secs(1)))?;
        let now = NOW.plus(Duration::from_secs(2));
        let begun = Instant::now();
        let taken = self.database.claim(&claim_at(now))?;
        let first = begun.elapsed();
        let mut counts = BTreeMap::<_, u32>::new();
        for delivery in &taken {
            *counts.entry(delivery.target.webhook_id).or_default() += 1;
        }
        let begun = Instant::now();
        let rest = self.claim_all(now)?;
        let rate = f64::from(rest) / begun.elapsed().as_secs_f64();
        Ok(format!(
            "behind 10000 of one target, the first claim takes {} of {} targets in {} us; the rest at {rate:.0}/s",
            taken.len(),
            counts.len(),
            first.as_micros(),
        ))
    }

    fn claim_all(&self, now: Timestamp) -> Outcomes<u32> {
        let mut claimed = 0_u32;
        loop {
            match u32::try_from(self.database.claim(&claim_at(now))?.len())? {
                0 => return Ok(claimed),
                some => claimed += some,
            }
        }
    }

    /// Puts deliveries that nobody holds into the queue: each envelope goes to every one of these new targets.
    fn queue(&mut self, targets: u32, each: u32, due: Timestamp) -> Outcomes<()> {
        let store: &dyn Store = self.database;
        let (Some((sender, ..)), Some((recipient, _, like))) =
            (self.keys.first(), self.keys.last())
        else {
            return Ok(());
        };
        let (sender, recipient) = (*sender, *recipient);
        let new = |number| Registration {
            id: WebhookId::new(due, random(self.sent + number)),
            ..like.clone()
        };
        let targets: Vec<_> = (1..=targets).map(new).collect();
        store.write(Durability::Durable, |tx| {
            targets.iter().try_for_each(|target| tx.insert_registration(target))
        })?;
        let mut changes = Changes::default();
        for _ in 0..each {
            self.sent += 1;
            let mut envelope = envelope(self.sent, sender, recipient);
            envelope.meta.timestamp = due;
            changes.unleased.extend(targets.iter().map(|target| delivery(&envelope, target)));
            changes.envelopes.push(Arc::new(envelope));
            if changes.unleased.len() >= 1000 {
                store.write(Durability::Relaxed, |tx| tx.apply(&changes))?;
                changes = Changes::default();
            }
        }
        self.sent += u32::try_from(targets.len())?;
        Ok(store.write(Durability::Relaxed, |tx| tx.apply(&changes))?)
    }

    fn batch(&mut self, size: u32) -> (Wanted, Vec<Arc<Envelope>>, Vec<LeasedDelivery>) {
        let mut wanted = Wanted::default();
        let (mut envelopes, mut leased) = (Vec::new(), Vec::new());
        for _ in 0..size {
            self.sent += 1;
            let pick = |step: u32| usize::try_from(self.sent / step % KEYS).unwrap_or(0);
            let (Some((sender, token, _)), Some((recipient, _, to))) =
                (self.keys.get(pick(1)), self.keys.get(pick(7)))
            else {
                continue;
            };
            let envelope = envelope(self.sent, *sender, *recipient);
            leased.push(delivery(&envelope, to));
            envelopes.push(Arc::new(envelope));
            wanted.sessions.push(*token);
            wanted.callers.push(*sender);
            wanted.recipients.push(*recipient);
        }
        sort(&mut wanted.sessions);
        sort(&mut wanted.callers);
        sort(&mut wanted.recipients);
        (wanted, envelopes, leased)
    }
}

fn commit(
    wanted: &Wanted,
    envelopes: &[Arc<Envelope>],
    leased: &[LeasedDelivery],
    facts: sealpost_domain::ports::Facts,
    apply: impl FnOnce(&Changes) -> Result<(), StoreError>,
) -> Result<(), StoreError> {
    if facts.sessions.len() != wanted.sessions.len() || facts.targets.is_empty() {
        return Err(StoreError::Corrupt("load"));
    }
    let usage = facts.usage.into_iter().map(|(key, mut used)| {
        used.month.used += 1;
        (key, used)
    });
    apply(&Changes {
        envelopes: envelopes.to_vec(),
        leased: leased.to_vec(),
        usage: usage.collect(),
        ..Changes::default()
    })
}

struct Person {
    account: Account,
    key: ApiKey,
    session: Session,
    registration: Registration,
}

impl Person {
    fn new(number: u32) -> Outcomes<Self> {
        let account_id = AccountId::new(NOW, random(number));
        let token = TokenHash([u8::try_from(number)?; 32]);
        let id = ApiKeyId::new(NOW, random(number));
        let key = ApiKey {
            id,
            account_id,
            label: Label::parse("load")?,
            handle: None,
            did: Did::new("did:key:z6Mk".to_owned()),
            status: KeyStatus::Active,
            plan: Plan::Sovereign,
            root: Some(Wrapped(vec![7; 61])),
            sealing_version: 1,
            created_at: NOW,
        };
        let registration = Registration {
            id: WebhookId::new(NOW, random(number)),
            api_key_id: id,
            url: "https://example.org/hook".to_owned(),
            events: vec![EventKind::EnvelopeReceived],
            secret: Wrapped(vec![7; 61]),
            retiring: Vec::new(),
            status: RegistrationStatus::Enabled,
            disabled_reason: None,
            failing_since: None,
            created_at: NOW,
            last_success_at: None,
            last_failure: None,
        };
        Ok(Self {
            account: Account { id: account_id, login_secret: token, created_at: NOW },
            key,
            session: Session { token, account_id, expires_at: NOW },
            registration,
        })
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
            payload_size_bytes: 1700,
            timestamp: NOW,
        },
        sealed: vec![0x5A; SEALED],
        signature: [2; 64],
    }
}

fn delivery(envelope: &Envelope, to: &Registration) -> LeasedDelivery {
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

/// As the sweeper claims.
fn claim_at(now: Timestamp) -> Claim {
    let (lease, lease_until) = (LeaseToken(9), now.plus(Duration::from_secs(90)));
    Claim { now, limit: 256, per_target_max: 64, lease, lease_until }
}

fn success(held: &LeasedDelivery) -> Settlement {
    let (id, lease, outcome) = (held.id(), held.lease, Outcome::Succeeded);
    let answer = Some(Answer { status: 204, excerpt: String::new() });
    Settlement { id, lease, attempts: 1, at: NOW, duration_ms: 12, answer, outcome }
}

fn random(number: u32) -> [u8; 10] {
    let [a, b, c, d] = number.to_be_bytes();
    [a, b, c, d, 0x9E, 0x37, 0x79, 0xB9, 0x7F, 0x4A]
}

fn sort<T: Ord>(ids: &mut Vec<T>) {
    ids.sort_unstable();
    ids.dedup();
}
