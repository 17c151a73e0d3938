//! Creates a new database for each test case, and creates test data.

use std::{
    ops::Deref,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicU32, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use diesel::{
    Connection, PgConnection, RunQueryDsl, SqliteConnection,
    connection::SimpleConnection,
    dsl::sql,
    sql_types::{BigInt, Text},
};
use sealpost_domain::{
    Account, AccountId, AccountSecrets, ApiKey, ApiKeyId, AttemptResult, Did, Envelope,
    EnvelopeHash, EnvelopeId, EnvelopeMeta, Event, EventKind, IssuerKey, IssuerKeyId, KeyStatus,
    Label, LeaseToken, LeasedDelivery, Outcome, Plan, ReceiverResponse, RequestSource, Session,
    Target, Timestamp, TokenHash, Webhook, WebhookId, WebhookStatus, Wrapped,
    ports::{Claim, CountedTable, Durability, FactsQuery, Outbox as _, StoreError, WriteSet},
};
use sealpost_wallet::Keyring;
use sha2::{Digest as _, Sha256};

use crate::{
    Database, DatabaseUrl, Settings,
    connection::{
        AnyConnection, on_backend,
        transaction::{Reader, Transaction},
    },
};

/// The database of one test case.
pub(in crate::tests) struct Fixture {
    database: Database,
    pub(in crate::tests) url: DatabaseUrl,
    text: String,
    folder: Option<tempfile::TempDir>,
}

pub(in crate::tests) fn sqlite() -> Fixture {
    let fixture = empty_sqlite();
    fixture.migrate().unwrap();
    fixture
}

pub(in crate::tests) fn empty_sqlite() -> Fixture {
    let folder = tempfile::tempdir().unwrap();
    let text = format!("sqlite:{}", folder.path().join("test.db").display());
    Fixture { folder: Some(folder), ..open(text) }
}

/// Creates a migrated PostgreSQL database as a copy of a template, because a copy is faster than a migration.
///
/// The template is analyzed, so that PostgreSQL plans all statements for empty tables.
pub(in crate::tests) fn postgres() -> Fixture {
    static TEMPLATE: OnceLock<String> = OnceLock::new();
    let template = TEMPLATE.get_or_init(|| {
        let fixture = empty_postgres();
        let mut migrated = fixture.raw();
        crate::migrations::apply(&mut migrated, &|_| {}).unwrap();
        migrated.batch_execute("VACUUM (ANALYZE)").unwrap();
        let Fixture { database, text, .. } = fixture;
        drop((database, migrated));
        text
    });
    open(sealpost_testkit::postgres().copy_database(template))
}

/// Opens an existing database.
pub(in crate::tests) fn at_url(url: &str) -> Fixture {
    open(url.to_owned())
}

pub(in crate::tests) fn empty_postgres() -> Fixture {
    open(sealpost_testkit::postgres().create_database())
}

/// Returns the parameters of a claim. Its leases last one second, and a webhook may use the whole limit.
pub(in crate::tests) fn claim_of(now: i64, limit: usize, lease: LeaseToken) -> Claim {
    Claim {
        now: at(now),
        oldest: at(0),
        limit,
        per_target_max: limit,
        full: vec![],
        lease,
        lease_until: at(now + 1000),
    }
}

/// Claims all deliveries that are due at `now`.
pub(in crate::tests) fn claim(db: &Fixture, now: i64, lease: i64) -> Vec<LeasedDelivery> {
    db.claim(&claim_of(now, 1000, LeaseToken(lease))).unwrap()
}

pub(in crate::tests) fn record(db: &Fixture, results: &[AttemptResult]) {
    db.record_outcomes(results, FAILING_MAX).unwrap();
}

/// Returns the stored webhook, as the list of its key shows it.
pub(in crate::tests) fn find(db: &Fixture, of: &Webhook) -> Webhook {
    let listed = db.write(Durability::Durable, |tx| tx.list_webhooks(&of.api_key_id)).unwrap();
    listed.into_iter().find(|webhook| webhook.id == of.id).unwrap()
}

/// Returns the result of an attempt that ended at `when` (in milliseconds) with a response of status 500.
pub(in crate::tests) fn result_of(
    held: &LeasedDelivery,
    when: i64,
    outcome: Outcome,
) -> AttemptResult {
    AttemptResult {
        id: held.id(),
        target: Arc::clone(&held.target),
        lease: held.lease,
        attempts: held.attempts + 1,
        at: at(when),
        duration_ms: 12,
        response: Some(ReceiverResponse { status: 500, excerpt: "out of order".to_owned() }),
        error_detail: None,
        outcome,
    }
}

/// Duration of failures after which a webhook is disabled.
pub(in crate::tests) const FAILING_MAX: Duration = Duration::from_hours(120);

const POOL_MAX: usize = 8;

/// Returns a keyring with the versions of the key-encryption key up to `newest`.
pub(in crate::tests) fn keyring(newest: u32) -> Arc<Keyring> {
    let keys = [
        "1:AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE=",
        "2:AgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgI=",
    ];
    let known = keys.iter().take(usize::try_from(newest).unwrap()).copied().collect::<Vec<_>>();
    Arc::new(Keyring::parse(&known.join(",")).unwrap())
}

fn open(text: String) -> Fixture {
    let url: DatabaseUrl = text.parse().unwrap();
    let settings = Settings {
        pool_max: u32::try_from(POOL_MAX).unwrap(),
        connection_timeout: Duration::from_secs(20),
        statement_timeout: Duration::from_secs(40),
        ..Settings::default()
    };
    let database = Database::open(&url, settings).unwrap();
    database.authenticate_rows(keyring(1));
    Fixture { database, url, text, folder: None }
}

impl Deref for Fixture {
    type Target = Database;

    fn deref(&self) -> &Database {
        &self.database
    }
}

impl Fixture {
    /// Adds the next rows to the daily counts, and returns their number.
    pub(in crate::tests) fn count_rows(
        &self,
        table: CountedTable,
        before: Timestamp,
        limit: u32,
    ) -> u64 {
        let Some(rows) = self.read(|reader| reader.uncounted(table, before, limit, None)).unwrap()
        else {
            return 0;
        };
        self.write(Durability::Relaxed, |tx| tx.count(&rows)).unwrap()
    }

    /// Closes the database. Returns the folder of an SQLite database, which is deleted when the value is dropped.
    pub(in crate::tests) fn close(self) -> Option<tempfile::TempDir> {
        self.folder
    }

    /// Returns a reader outside a transaction, for several reads.
    pub(in crate::tests) fn reader(&self) -> Reader {
        Reader::open(&self.database.readers, &self.database.row_tags).unwrap()
    }

    /// Returns the maximum number of connections for reading. PostgreSQL reserves one connection for the committer (the
    /// thread that stores sends).
    pub(in crate::tests) fn readers_max(&self) -> usize {
        match &self.url {
            DatabaseUrl::Postgres(_) => POOL_MAX - 1,
            DatabaseUrl::Sqlite(_) => POOL_MAX,
        }
    }

    /// Opens a separate connection, as another process would.
    pub(in crate::tests) fn raw(&self) -> AnyConnection {
        match &self.url {
            DatabaseUrl::Postgres(_) => {
                AnyConnection::Postgres(PgConnection::establish(&self.text).unwrap())
            }
            DatabaseUrl::Sqlite(path) => {
                let mut lite = SqliteConnection::establish(path.to_str().unwrap()).unwrap();
                lite.batch_execute("PRAGMA busy_timeout = 20000").unwrap();
                AnyConnection::Sqlite(lite)
            }
        }
    }

    pub(in crate::tests) fn execute(&self, sql: &str) -> diesel::QueryResult<()> {
        self.raw().batch_execute(sql)
    }

    /// Counts the rows of a table, such as `deliveries WHERE lease IS NULL`.
    pub(in crate::tests) fn count(&self, rows: &str) -> i64 {
        let count = sql::<BigInt>(&format!("(SELECT count(*) FROM {rows})"));
        diesel::select(count).get_result(&mut self.raw()).unwrap()
    }

    /// Returns the results of a query of one column of text. `query` is the text after `SELECT`.
    pub(in crate::tests) fn texts(&self, query: &str) -> Vec<String> {
        let select = sql::<Text>(&format!("SELECT {query}"));
        on_backend!(&mut self.raw(), conn => select.load(conn).unwrap())
    }

    /// Begins a transaction that locks facts. PostgreSQL does not end this transaction, even if it stays idle.
    pub(in crate::tests) fn standing_batch(&self, wanted: &FactsQuery) -> Transaction {
        let mut transaction = self.begin(Durability::Durable).unwrap();
        transaction.lock_facts(wanted).unwrap();
        self.let_stand(&mut transaction);
        transaction
    }

    /// Disables the timeout of PostgreSQL for idle transactions.
    pub(in crate::tests) fn let_stand(&self, transaction: &mut Transaction) {
        if matches!(self.url, DatabaseUrl::Postgres(_)) {
            transaction
                .run(|conn| {
                    Ok(conn.batch_execute("SET LOCAL idle_in_transaction_session_timeout = 0")?)
                })
                .unwrap();
        }
    }

    /// Waits until another transaction waits for a lock. SQLite does not report waiting transactions, so on SQLite the
    /// wait is a fixed pause.
    pub(in crate::tests) fn await_waiting(&self) {
        let until = Instant::now() + PATIENCE;
        if matches!(self.url, DatabaseUrl::Sqlite(_)) {
            thread::sleep(Duration::from_millis(150));
            return;
        }
        while self.count(WAITING) == 0 {
            assert!(Instant::now() < until, "no transaction waits");
            thread::sleep(Duration::from_millis(5));
        }
    }

    /// Creates an account with one active API key, and returns the key.
    pub(in crate::tests) fn activate(&self) -> ApiKey {
        let account = account();
        let key = key(&account.id);
        self.write(Durability::Durable, |tx| {
            tx.insert_account(&account)?;
            tx.insert_key(&key)
        })
        .unwrap();
        key
    }

    /// Creates another API key in the account of the key `other`.
    pub(in crate::tests) fn activate_beside(&self, other: &ApiKey) -> ApiKey {
        let key = key(&other.account_id);
        self.write(Durability::Durable, |tx| tx.insert_key(&key)).unwrap();
        key
    }

    pub(in crate::tests) fn register(&self, key: &ApiKeyId) -> Webhook {
        let webhook = webhook(key);
        self.write(Durability::Durable, |tx| tx.insert_webhook(&webhook)).unwrap();
        webhook
    }

    /// Registers a webhook for these kinds of events.
    pub(in crate::tests) fn register_for(&self, key: &ApiKeyId, events: &[EventKind]) -> Webhook {
        let webhook = Webhook { events: events.to_vec(), ..webhook(key) };
        self.write(Durability::Durable, |tx| tx.insert_webhook(&webhook)).unwrap();
        webhook
    }

    /// Locks the usage rows of the changes, then applies the changes.
    pub(in crate::tests) fn apply(&self, changes: &WriteSet) {
        let callers = changes.usage.iter().map(|(key, _)| *key).collect();
        let locked = FactsQuery { callers, ..FactsQuery::default() };
        self.write(Durability::Durable, |tx| {
            tx.lock_facts(&locked)?;
            tx.apply(changes)
        })
        .unwrap();
    }

    /// Stores `count` envelopes to the owner of a webhook, each with a delivery without a lease. Returns the
    /// deliveries.
    pub(in crate::tests) fn send(&self, to: &Webhook, count: usize) -> Vec<LeasedDelivery> {
        let envelopes: Vec<_> =
            (0..count).map(|_| Arc::new(envelope(&to.api_key_id, &to.api_key_id))).collect();
        let unleased: Vec<_> =
            envelopes.iter().map(|envelope| delivery(envelope, to, LeaseToken(0), 0)).collect();
        self.apply(&WriteSet { envelopes, unleased: unleased.clone(), ..WriteSet::default() });
        unleased
    }
}

/// Calls `look` repeatedly until it returns a value. Panics after 20 seconds.
#[track_caller]
pub(in crate::tests) fn eventually<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let until = Instant::now() + PATIENCE;
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(Instant::now() < until, "not within {PATIENCE:?}: {what}");
        thread::sleep(Duration::from_millis(5));
    }
}

/// Repeats the attempt for up to 20 seconds while it fails with `Unavailable`, as after a timeout.
pub(in crate::tests) fn retried<T>(
    attempt: impl Fn() -> Result<T, StoreError>,
) -> Result<T, StoreError> {
    let until = Instant::now() + PATIENCE;
    loop {
        match attempt() {
            Err(StoreError::Unavailable(_)) if Instant::now() < until => {}
            done => return done,
        }
    }
}

/// The connections of PostgreSQL that wait for a lock.
pub(in crate::tests) const WAITING: &str =
    "pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";

const PATIENCE: Duration = Duration::from_secs(20);

/// Creates a unique id. Ids that are created later sort higher.
pub(in crate::tests) fn fresh<T>(id: impl Fn(Timestamp, [u8; 10]) -> T) -> T {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let [a, b, c, d] = number.to_be_bytes();
    id(at(i64::from(number)), [7, 7, 7, 7, 7, 7, a, b, c, d])
}

pub(in crate::tests) const fn at(millis: i64) -> Timestamp {
    Timestamp::from_millis(millis)
}

pub(in crate::tests) fn token() -> TokenHash {
    let id = fresh(AccountId::new);
    let mut hash = [0; 32];
    hash[..16].copy_from_slice(id.as_bytes());
    TokenHash(hash)
}

/// Inserts a session without client address and user agent.
pub(in crate::tests) fn open_session(
    tx: &mut Transaction,
    session: &Session,
) -> Result<(), StoreError> {
    tx.insert_session(session, at(0), &RequestSource::default())
}

pub(in crate::tests) fn account() -> Account {
    Account { id: fresh(AccountId::new), secrets: secrets(), created_at: at(1) }
}

pub(in crate::tests) fn secrets() -> AccountSecrets {
    AccountSecrets { login_secret: token(), recovery_code: token() }
}

pub(in crate::tests) fn key(account_id: &AccountId) -> ApiKey {
    let id = fresh(ApiKeyId::new);
    ApiKey {
        id,
        account_id: *account_id,
        // A stored label can be older than the rule that refuses U+202E in a new one.
        label: Label::parse("O'Brien \"süß\" \u{202e}").unwrap(),
        handle: None,
        did: Did::new(format!("did:key:z{id}")),
        status: KeyStatus::Active,
        plan: Plan::Explorer,
        root: Some(Wrapped(vec![0, 1, 255])),
        sealing_version: 1,
        created_at: at(2),
    }
}

pub(in crate::tests) fn envelope(sender: &ApiKeyId, recipient: &ApiKeyId) -> Envelope {
    envelope_of(sender, recipient, vec![1, 2, 0, 255])
}

/// Returns an envelope with these sealed bytes and their hash.
pub(in crate::tests) fn envelope_of(
    sender: &ApiKeyId,
    recipient: &ApiKeyId,
    sealed: Vec<u8>,
) -> Envelope {
    let meta = EnvelopeMeta::example(fresh(EnvelopeId::new), *sender, *recipient);
    let hash = EnvelopeHash(Sha256::digest(&sealed).into());
    Envelope { meta: EnvelopeMeta { hash, ..meta }, sealed, signature: [9; 64] }
}

pub(in crate::tests) fn webhook(key: &ApiKeyId) -> Webhook {
    Webhook {
        id: fresh(WebhookId::new),
        api_key_id: *key,
        url: "https://example.org/hook?a=1".to_owned(),
        events: vec![EventKind::EnvelopeReceived],
        secret: Wrapped(vec![5; 40]),
        retiring: Vec::new(),
        status: WebhookStatus::Enabled,
        disabled_reason: None,
        failing_since: None,
        description: None,
        paused: false,
        created_at: at(3),
        last_success_at: None,
        last_failure: None,
    }
}

pub(in crate::tests) fn issuer_key(signs_from: i64) -> IssuerKey {
    IssuerKey {
        id: fresh(IssuerKeyId::new),
        public_key: [8; 32],
        secret: Wrapped(vec![6; 40]),
        created_at: at(4),
        signs_from: at(signs_from),
    }
}

pub(in crate::tests) fn target(webhook: &Webhook) -> Arc<Target> {
    Arc::new(Target {
        webhook_id: webhook.id,
        account_id: fresh(AccountId::new),
        url: webhook.url.clone(),
        secret: webhook.secret.clone(),
        retiring: webhook.retiring.clone(),
    })
}

pub(in crate::tests) fn delivery(
    envelope: &Envelope,
    to: &Webhook,
    lease: LeaseToken,
    lease_until: i64,
) -> LeasedDelivery {
    LeasedDelivery {
        event: Event::received(envelope.meta.clone(), None),
        target: target(to),
        target_read_at: at(0),
        attempts: 0,
        requested_at: None,
        lease,
        lease_until: at(lease_until),
    }
}
