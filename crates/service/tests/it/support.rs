//! Support for tests: a service on a real database, in a temporary folder or on a PostgreSQL server. The clock changes
//! only if a test changes it. The dispatcher only records deliveries.

use std::{
    path::PathBuf,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicI64, AtomicUsize, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use sealpost_domain::{
    AccountSecrets, ApiKeyId, AttemptResult, Clock, Did, EventKind, Handle, IdempotencyKey, Label,
    LeaseToken, LeasedDelivery, Outcome, ReceiverResponse, Refusal, Timestamp,
    ports::{Claim, Durability, Outbox as _, StoreError},
};
use sealpost_service::{
    Activate, Activated, Credentials, Error, Issuer, KeyNamed, Login, NewMessage, Operator, Parts,
    Register, Registered, Sealpost, SendContext, Settings, WaitingChoice, built_in_circuits,
    unlock,
};
use sealpost_storage::{Access, Database, DatabaseUrl, Settings as DatabaseSettings};
use sealpost_wallet::{Keyring, LoginSecret};
use tempfile::TempDir;

use crate::{
    client::Client,
    doubles::{Anywhere, RecordedDispatch},
};

pub(crate) struct World {
    pub(crate) sealpost: Client,
    pub(crate) clock: Arc<TestClock>,
    pub(crate) dispatch: Arc<RecordedDispatch>,
    pub(crate) database: Arc<Database>,
    pub(crate) keyring: Arc<Keyring>,
    pub(crate) issuer: Arc<Issuer>,
    pub(crate) file: PathBuf,
    url: DatabaseUrl,
    _folder: TempDir,
}

impl World {
    pub(crate) fn new() -> Self {
        Self::with(Settings::default())
    }

    pub(crate) fn with(settings: Settings) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let url = DatabaseUrl::Sqlite(folder.path().join("sealpost.db"));
        connect(&url).migrate().unwrap();
        Self::on(url, folder, settings)
    }

    /// Starts a service on a copy of a migrated PostgreSQL database. A copy is cheaper than a migration.
    pub(crate) fn on_postgres(settings: Settings) -> Self {
        static MIGRATED: OnceLock<String> = OnceLock::new();
        let server = sealpost_testkit::postgres();
        let migrated = MIGRATED.get_or_init(|| {
            let url = server.create_database();
            connect(&url.parse().unwrap()).migrate().unwrap();
            url
        });
        let url = server.copy_database(migrated).parse().unwrap();
        Self::on(url, tempfile::tempdir().unwrap(), settings)
    }

    /// Starts a service on SQLite and a service on PostgreSQL.
    pub(crate) fn on_both(settings: &Settings) -> [Self; 2] {
        [Self::with(settings.clone()), Self::on_postgres(settings.clone())]
    }

    fn on(url: DatabaseUrl, folder: TempDir, settings: Settings) -> Self {
        let file = folder.path().join("sealpost.db");
        let database = Arc::new(connect(&url));
        let keyring = Arc::new(Keyring::parse(&Keyring::fresh_line(1).unwrap()).unwrap());
        unlock(&keyring, &database).unwrap();
        let clock = Arc::new(TestClock(AtomicI64::new(1_790_000_000_000)));
        let dispatch = Arc::new(RecordedDispatch::default());
        let parts = parts(&database, &dispatch, &keyring, &clock);
        let issuer = Arc::clone(&parts.issuer);
        let sealpost = Client(Sealpost::start(parts, settings).unwrap());
        Self { sealpost, clock, dispatch, database, keyring, issuer, file, url, _folder: folder }
    }

    /// Starts another node: a service with its own cache and connections on the same database.
    pub(crate) fn another_node(&self, settings: Settings) -> Client {
        let database = Arc::new(connect(&self.url));
        let parts = parts(&database, &self.dispatch, &self.keyring, &self.clock);
        Client(Sealpost::start(parts, settings).unwrap())
    }

    /// Starts another node that uses `store` as its database.
    pub(crate) fn node_on(&self, store: Arc<Database>, settings: Settings) -> Client {
        let parts = parts(&self.database, &self.dispatch, &self.keyring, &self.clock);
        Client(Sealpost::start(Parts { store, ..parts }, settings).unwrap())
    }

    /// Creates an operator on the same database.
    pub(crate) fn operator(&self) -> Operator {
        let clock = Arc::<TestClock>::clone(&self.clock);
        Operator::new(Arc::<Database>::clone(&self.database), clock, "operator:test".to_owned())
    }

    /// Registers a webhook for received envelopes.
    pub(crate) fn register(&self, who: &Credentials) -> Registered {
        self.register_at(who, "https://bob.example/")
    }

    /// Registers a webhook for received envelopes with this URL.
    pub(crate) fn register_at(&self, who: &Credentials, url: &str) -> Registered {
        let asked = Register { url: url.to_owned(), ..webhook_for(EventKind::EnvelopeReceived) };
        self.sealpost.register(who, &Ok(asked)).result.unwrap()
    }

    /// Claims the deliveries that are due at `now`.
    pub(crate) fn claim(
        &self,
        now: Timestamp,
        lease: LeaseToken,
        lease_until: Timestamp,
    ) -> Vec<LeasedDelivery> {
        let claim = Claim {
            now,
            oldest: Timestamp::from_millis(0),
            limit: 100_000,
            per_target_max: 100_000,
            full: Vec::new(),
            lease,
            lease_until,
        };
        self.database.claim(&claim).unwrap()
    }

    /// Claims due deliveries with a lease of one second.
    pub(crate) fn claim_due(&self) -> Vec<LeasedDelivery> {
        let now = self.clock.now();
        self.claim(now, LeaseToken(now.as_millis()), now.plus(Duration::from_secs(1)))
    }

    /// Records the outcome of an attempt of each of these deliveries.
    pub(crate) fn settle(&self, held: &[LeasedDelivery], outcome: Outcome) {
        let ends: Vec<_> = held
            .iter()
            .map(|held| AttemptResult {
                id: held.id(),
                target: Arc::clone(&held.target),
                lease: held.lease,
                attempts: held.attempts + 1,
                at: self.clock.now(),
                duration_ms: 7,
                response: Some(ReceiverResponse { status: 500, excerpt: "no".to_owned() }),
                error_detail: None,
                outcome,
            })
            .collect();
        self.database.record_outcomes(&ends, Duration::from_hours(5 * 24)).unwrap();
    }

    /// Activates a new account with one identity, and logs in.
    pub(crate) fn newcomer(&self, handle: Option<&str>) -> Credentials {
        let activated = self.activate(None, handle).unwrap();
        let secret = activated.login_secret.clone().unwrap();
        let login = Login {
            account_id: activated.account_id.to_string(),
            login_secret: secret,
            on_dashboard: true,
        };
        let token = self.sealpost.login(&login).unwrap().session_token;
        Credentials { token: Some(token), key: KeyNamed::Key(activated.api_key_id.to_string()) }
    }

    /// Returns credentials for the same key with a new session. Replaces the login secret of the account.
    pub(crate) fn log_in_again(&self, who: &Credentials) -> Credentials {
        let key = key_of(who).parse().unwrap();
        let account_id =
            self.database.read(|reader| reader.find_key(&key)).unwrap().unwrap().account_id;
        let secret = LoginSecret::generate().unwrap();
        let secrets = AccountSecrets { login_secret: secret.hash(), recovery_code: secret.hash() };
        let store: &Database = &self.database;
        store
            .write(Durability::Durable, |tx| tx.set_account_secrets(&account_id, &secrets))
            .unwrap();
        let login = Login {
            account_id: account_id.to_string(),
            login_secret: secret.expose().to_owned(),
            on_dashboard: true,
        };
        let token = self.sealpost.login(&login).unwrap().session_token;
        Credentials { token: Some(token), key: who.key.clone() }
    }

    pub(crate) fn activate(
        &self,
        token: Option<&str>,
        handle: Option<&str>,
    ) -> Result<Activated, Error> {
        let label = Label::parse("test").unwrap();
        let handle = handle.map(|handle| Handle::parse(handle).unwrap());
        self.sealpost.activate(token, Ok(Activate { label, handle, invite: None }))
    }
}

pub(crate) fn open(file: &std::path::Path) -> Database {
    connect(&DatabaseUrl::Sqlite(file.to_owned()))
}

/// Opens a database with a long timeout, because many tests share a machine.
fn connect(url: &DatabaseUrl) -> Database {
    let connection_timeout = Duration::from_secs(20);
    let settings = DatabaseSettings { connection_timeout, ..DatabaseSettings::default() };
    Database::open(url, settings).unwrap()
}

fn parts(
    database: &Arc<Database>,
    dispatch: &Arc<RecordedDispatch>,
    keyring: &Arc<Keyring>,
    clock: &Arc<TestClock>,
) -> Parts {
    let (store, time) = (Arc::<Database>::clone(database), Arc::<TestClock>::clone(clock));
    let did = Did::web("seal.example.org", "");
    let issuer = Issuer::open(store, Arc::clone(keyring), time, did).unwrap();
    Parts {
        issuer: Arc::new(issuer),
        base_url: "https://seal.example.org".to_owned(),
        circuits: built_in_circuits().unwrap(),
        store: Arc::<Database>::clone(database),
        dispatch: Arc::<RecordedDispatch>::clone(dispatch),
        guard: Arc::new(Anywhere),
        keyring: Arc::clone(keyring),
        clock: Arc::<TestClock>::clone(clock),
    }
}

/// Waits until `is_done` returns true. Panics after a minute.
#[track_caller]
pub(crate) fn wait_until(mut is_done: impl FnMut() -> bool) {
    let until = Instant::now() + Duration::from_mins(1);
    while !is_done() {
        assert!(Instant::now() < until, "not in time");
        // A check can take the write lock of the database, which other threads need many times.
        thread::sleep(Duration::from_millis(5));
    }
}

pub(crate) fn refusal<T>(result: Result<T, Error>) -> Refusal {
    match result {
        Err(error) => error.refusal().expect("a refusal").clone(),
        Ok(_) => panic!("it was not refused"),
    }
}

pub(crate) struct TestClock(AtomicI64);

impl TestClock {
    pub(crate) fn advance(&self, span: Duration) {
        self.0.fetch_add(i64::try_from(span.as_millis()).unwrap(), Ordering::SeqCst);
    }

    pub(crate) fn set_back(&self, span: Duration) {
        self.0.fetch_sub(i64::try_from(span.as_millis()).unwrap(), Ordering::SeqCst);
    }
}

impl Clock for TestClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(self.0.load(Ordering::SeqCst))
    }
}

/// Returns the database, with a callback before each transaction.
///
/// Transactions of three housekeeping threads are excluded, because these threads write at any time.
pub(crate) fn announcing(
    world: &World,
    before: impl Fn() + Send + Sync + 'static,
) -> Arc<Database> {
    hooked(world, move |access| {
        let is_housekeeping =
            matches!(thread::current().name(), Some("follow-up" | "key-reviewer" | "log-appender"));
        if access != Access::Read && !is_housekeeping {
            before();
        }
        Ok(())
    })
}

/// Returns the database with a hook before each access.
pub(crate) fn hooked(
    world: &World,
    hook: impl Fn(Access) -> Result<(), StoreError> + Send + Sync + 'static,
) -> Arc<Database> {
    Arc::new(Database::clone(&world.database).with_hook(hook))
}

/// Returns the database, with durable transactions of requests that fail as soon as `allowed` is used up.
pub(crate) fn failing_after(world: &World, allowed: &Arc<AtomicUsize>) -> Arc<Database> {
    let allowed = Arc::clone(allowed);
    hooked(world, move |access| {
        let is_request = thread::current().name().is_some_and(|name| name.starts_with("tokio"));
        if !is_request || access != Access::Write(Durability::Durable) {
            return Ok(());
        }
        let take = |left: usize| left.checked_sub(1);
        match allowed.fetch_update(Ordering::SeqCst, Ordering::SeqCst, take) {
            Ok(_) => Ok(()),
            Err(_) => Err(StoreError::Unavailable("away".into())),
        }
    })
}

/// Returns the API key that the credentials name.
pub(crate) fn key_of(credentials: &Credentials) -> String {
    match &credentials.key {
        KeyNamed::Key(key) => key.clone(),
        _ => panic!("the credentials name no key"),
    }
}

/// Returns the id of the API key that the credentials name.
pub(crate) fn id(credentials: &Credentials) -> ApiKeyId {
    key_of(credentials).parse().unwrap()
}

/// Returns a message without a context. `name` is its idempotency key.
pub(crate) fn message(to: &str, text: &str, name: Option<&str>) -> NewMessage {
    NewMessage {
        to: to.to_owned(),
        message: text.to_owned(),
        context: SendContext::default(),
        trace: None,
        idempotency_key: name.map(|name| IdempotencyKey::parse(name).unwrap()),
    }
}

/// Returns a webhook for one kind of events.
pub(crate) fn webhook_for(event: EventKind) -> Register {
    Register {
        url: "https://bob.example/".to_owned(),
        events: vec![event],
        description: None,
        waiting: WaitingChoice::Deliver,
    }
}
