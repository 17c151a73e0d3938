//! A fresh database for each case, and things to put into it.

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
    Connection, PgConnection, RunQueryDsl, SqliteConnection, connection::SimpleConnection,
    dsl::sql, sql_types::BigInt,
};
use sealpost_domain::{
    Account, AccountId, ApiKey, ApiKeyId, AttemptResult, Did, Envelope, EnvelopeHash, EnvelopeId,
    EnvelopeMeta, EventKind, IssuerKey, IssuerKeyId, KeyStatus, Label, LeaseToken, LeasedDelivery,
    Outcome, Plan, ReceiverResponse, Suite, Target, Timestamp, TokenHash, Webhook, WebhookId,
    WebhookStatus, Wrapped,
    ports::{Claim, Durability, FactsQuery, SendLedger as _, Store, StoreError, Tx, WriteSet},
};

use crate::{Database, DatabaseUrl, Settings, connection::AnyConnection, unit::Unit};

/// A database of its own.
pub(super) struct Fixture {
    database: Database,
    pub(super) url: DatabaseUrl,
    text: String,
    _folder: Option<tempfile::TempDir>,
}

pub(super) fn sqlite() -> Fixture {
    let fixture = empty_sqlite();
    fixture.migrate().unwrap();
    fixture
}

pub(super) fn empty_sqlite() -> Fixture {
    let folder = tempfile::tempdir().unwrap();
    let text = format!("sqlite:{}", folder.path().join("test.db").display());
    Fixture { _folder: Some(folder), ..open(text) }
}

/// A copy of one that was migrated: cheaper than migrating each.
pub(super) fn postgres() -> Fixture {
    static TEMPLATE: OnceLock<String> = OnceLock::new();
    let template = TEMPLATE.get_or_init(|| {
        let fixture = empty_postgres();
        let mut migrated = fixture.raw();
        crate::migrate::apply(&mut migrated, &|_| {}).unwrap();
        let Fixture { database, text, .. } = fixture;
        drop((database, migrated));
        text
    });
    open(sealpost_testkit::postgres().copy_database(template))
}

/// On this database, whatever is in it.
pub(super) fn at_url(url: &str) -> Fixture {
    open(url.to_owned())
}

pub(super) fn empty_postgres() -> Fixture {
    open(sealpost_testkit::postgres().create_database())
}

/// What anybody may take, of whomever, for a second.
pub(super) fn claim_of(now: i64, limit: usize, lease: LeaseToken) -> Claim {
    Claim { now: at(now), limit, per_target_max: limit, lease, lease_until: at(now + 1000) }
}

/// An attempt that took a while and was answered.
pub(super) fn settlement(held: &LeasedDelivery, when: i64, outcome: Outcome) -> AttemptResult {
    AttemptResult {
        id: held.id(),
        lease: held.lease,
        attempts: held.attempts + 1,
        at: at(when),
        duration_ms: 12,
        response: Some(ReceiverResponse { status: 500, excerpt: "so it is".to_owned() }),
        outcome,
    }
}

/// Longer than any case takes.
pub(super) const FAILING_MAX: Duration = Duration::from_hours(120);

fn open(text: String) -> Fixture {
    let url: DatabaseUrl = text.parse().unwrap();
    let settings = Settings {
        pool_max: 8,
        connection_timeout: Duration::from_secs(20),
        statement_timeout: Duration::from_secs(40),
        ..Settings::default()
    };
    let database = Database::open(&url, settings).unwrap();
    Fixture { database, url, text, _folder: None }
}

impl Deref for Fixture {
    type Target = Database;

    fn deref(&self) -> &Database {
        &self.database
    }
}

impl Fixture {
    pub(super) fn store(&self) -> &dyn Store {
        &self.database
    }

    /// A connection of somebody else's, such as another process.
    pub(super) fn raw(&self) -> AnyConnection {
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

    pub(super) fn execute(&self, sql: &str) -> diesel::QueryResult<()> {
        self.raw().batch_execute(sql)
    }

    /// How many rows there are, such as `deliveries WHERE lease IS NULL`.
    pub(super) fn count(&self, rows: &str) -> i64 {
        let count = sql::<BigInt>(&format!("(SELECT count(*) FROM {rows})"));
        diesel::select(count).get_result(&mut self.raw()).unwrap()
    }

    /// Changes facts. Such a change gives up where a batch makes it wait for a second, which is not what these cases are
    /// about.
    pub(super) fn change<T>(
        &self,
        work: impl Fn(&mut dyn Tx) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        retried(|| self.store().write(Durability::Durable, &work))
    }

    /// A batch that relies on these facts, and may stand still for as long as it likes: on PostgreSQL it would be ended.
    pub(super) fn standing_batch(&self, wanted: &FactsQuery) -> Unit {
        let mut unit = self.unit(Durability::Durable).unwrap();
        unit.lock_batch_facts(wanted).unwrap();
        self.let_stand(&mut unit);
        unit
    }

    /// The same for a batch that has what it wants.
    pub(super) fn let_stand(&self, unit: &mut Unit) {
        if matches!(self.url, DatabaseUrl::Postgres(_)) {
            unit.run(|conn| {
                Ok(conn.batch_execute("SET LOCAL idle_in_transaction_session_timeout = 0")?)
            })
            .unwrap();
        }
    }

    /// Waits until somebody waits for a row or a transaction of somebody else's. SQLite cannot tell, so there it is only a
    /// while.
    pub(super) fn await_waiting(&self) {
        let waiting =
            "pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
        let until = Instant::now() + PATIENCE;
        if matches!(self.url, DatabaseUrl::Sqlite(_)) {
            thread::sleep(Duration::from_millis(150));
            return;
        }
        while self.count(waiting) == 0 {
            assert!(Instant::now() < until, "nobody waits");
            thread::sleep(Duration::from_millis(5));
        }
    }

    /// An account with an active key.
    pub(super) fn activate(&self) -> ApiKey {
        let account = account();
        let key = key(&account.id);
        self.store()
            .write(Durability::Durable, |tx| {
                tx.insert_account(&account)?;
                tx.insert_key(&key)
            })
            .unwrap();
        key
    }

    /// One more key of the same account.
    pub(super) fn activate_beside(&self, other: &ApiKey) -> ApiKey {
        let key = key(&other.account_id);
        self.store().write(Durability::Durable, |tx| tx.insert_key(&key)).unwrap();
        key
    }

    pub(super) fn register(&self, key: &ApiKeyId) -> Webhook {
        let webhook = webhook(key);
        self.store().write(Durability::Durable, |tx| tx.insert_webhook(&webhook)).unwrap();
        webhook
    }

    pub(super) fn apply(&self, changes: &WriteSet) {
        self.store().write(Durability::Durable, |tx| tx.apply(changes)).unwrap();
    }

    /// Stores `count` envelopes with a delivery each that nobody holds; the deliveries.
    pub(super) fn send(&self, to: &Webhook, count: usize) -> Vec<LeasedDelivery> {
        let envelopes: Vec<_> =
            (0..count).map(|_| Arc::new(envelope(&to.api_key_id, &to.api_key_id))).collect();
        let unleased: Vec<_> =
            envelopes.iter().map(|envelope| delivery(envelope, to, LeaseToken(0), 0)).collect();
        self.apply(&WriteSet { envelopes, unleased: unleased.clone(), ..WriteSet::default() });
        unleased
    }
}

/// Once more where somebody stood in the way for too long.
pub(super) fn retried<T>(attempt: impl Fn() -> Result<T, StoreError>) -> Result<T, StoreError> {
    let until = Instant::now() + PATIENCE;
    loop {
        match attempt() {
            Err(StoreError::Unavailable(_)) if Instant::now() < until => {}
            done => return done,
        }
    }
}

const PATIENCE: Duration = Duration::from_secs(20);

/// Different at every call, and later ids are greater.
pub(super) fn fresh<T>(id: impl Fn(Timestamp, [u8; 10]) -> T) -> T {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    id(at(i64::from(number)), [7; 10])
}

pub(super) const fn at(millis: i64) -> Timestamp {
    Timestamp::from_millis(millis)
}

pub(super) fn token() -> TokenHash {
    let id = fresh(AccountId::new);
    let mut hash = [0; 32];
    hash[..16].copy_from_slice(id.as_bytes());
    TokenHash(hash)
}

pub(super) fn account() -> Account {
    Account { id: fresh(AccountId::new), login_secret: token(), created_at: at(1) }
}

pub(super) fn key(account_id: &AccountId) -> ApiKey {
    let id = fresh(ApiKeyId::new);
    ApiKey {
        id,
        account_id: *account_id,
        label: Label::parse("O'Brien \"süß\"").unwrap(),
        handle: None,
        did: Did::new(format!("did:key:z{id}")),
        status: KeyStatus::Active,
        plan: Plan::Explorer,
        root: Some(Wrapped(vec![0, 1, 255])),
        sealing_version: 1,
        created_at: at(2),
    }
}

pub(super) fn envelope(sender: &ApiKeyId, recipient: &ApiKeyId) -> Envelope {
    Envelope {
        meta: EnvelopeMeta {
            id: fresh(EnvelopeId::new),
            sender: *sender,
            recipient: *recipient,
            suite: Suite::Hybrid,
            hash: EnvelopeHash([3; 32]),
            payload_size_bytes: 4,
            timestamp: at(1000),
        },
        sealed: vec![1, 2, 0, 255],
        signature: [9; 64],
    }
}

pub(super) fn webhook(key: &ApiKeyId) -> Webhook {
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
        created_at: at(3),
        last_success_at: None,
        last_failure: None,
    }
}

pub(super) fn issuer_key(signs_from: i64) -> IssuerKey {
    IssuerKey {
        id: fresh(IssuerKeyId::new),
        public_key: [8; 32],
        secret: Wrapped(vec![6; 40]),
        created_at: at(4),
        signs_from: at(signs_from),
    }
}

pub(super) fn target(webhook: &Webhook) -> Arc<Target> {
    Arc::new(Target {
        webhook_id: webhook.id,
        url: webhook.url.clone(),
        secret: webhook.secret.clone(),
        retiring: webhook.retiring.clone(),
    })
}

pub(super) fn delivery(
    envelope: &Envelope,
    to: &Webhook,
    lease: LeaseToken,
    lease_until: i64,
) -> LeasedDelivery {
    LeasedDelivery {
        meta: Arc::new(envelope.meta.clone()),
        target: target(to),
        attempts: 0,
        lease,
        lease_until: at(lease_until),
    }
}
