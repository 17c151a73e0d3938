//! A service on a real embedded database in a temporary folder, with a clock that stands still until it is moved and a
//! dispatcher that only remembers.

use std::{
    path::PathBuf,
    sync::{
        Arc, Mutex,
        atomic::{AtomicI64, AtomicUsize, Ordering},
    },
    time::Duration,
};

use sealpost_domain::{
    Clock, Handle, Label, LeaseToken, LeasedDelivery, Refusal, Timestamp,
    ports::{Dispatch, TargetGuard},
};
use sealpost_service::{
    Activate, Activated, Credentials, Error, Login, Parts, Sealpost, Settings, unlock,
};
use sealpost_storage::{Database, DatabaseUrl, Settings as DatabaseSettings};
use sealpost_wallet::Keyring;
use tempfile::TempDir;

pub struct World {
    pub sealpost: Sealpost,
    pub clock: Arc<TestClock>,
    pub dispatch: Arc<Remembered>,
    pub file: PathBuf,
    _folder: TempDir,
}

impl World {
    pub fn new() -> Self {
        Self::with(Settings::default())
    }

    pub fn with(settings: Settings) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("sealpost.db");
        let database = open(&file);
        let keyring = Arc::new(Keyring::parse(&Keyring::fresh_line(1).unwrap()).unwrap());
        unlock(&keyring, &database).unwrap();
        let clock = Arc::new(TestClock(AtomicI64::new(1_790_000_000_000)));
        let dispatch = Arc::new(Remembered::default());
        let parts = Parts {
            store: Arc::new(database),
            dispatch: Arc::<Remembered>::clone(&dispatch),
            guard: Arc::new(Anywhere),
            keyring,
            clock: Arc::<TestClock>::clone(&clock),
        };
        let sealpost = Sealpost::start(parts, settings).unwrap();
        Self { sealpost, clock, dispatch, file, _folder: folder }
    }

    /// A new account with one identity, logged in.
    pub fn newcomer(&self, handle: Option<&str>) -> Credentials {
        let activated = self.activate(None, handle).unwrap();
        let secret = activated.login_secret.clone().unwrap();
        let login = Login { account_id: activated.account_id.to_string(), login_secret: secret };
        let token = self.sealpost.login(&login).unwrap().session_token;
        Credentials { token: Some(token), key: Ok(Some(activated.api_key_id.to_string())) }
    }

    pub fn activate(&self, token: Option<&str>, handle: Option<&str>) -> Result<Activated, Error> {
        let label = Label::parse("test").unwrap();
        let handle = handle.map(|handle| Handle::parse(handle).unwrap());
        self.sealpost.activate(token, Ok(Activate { label, handle }))
    }
}

pub fn open(file: &std::path::Path) -> Database {
    let database =
        Database::open(&DatabaseUrl::Sqlite(file.to_owned()), DatabaseSettings::default()).unwrap();
    database.migrate().unwrap();
    database
}

pub fn refusal<T>(result: Result<T, Error>) -> Refusal {
    match result {
        Err(error) => error.refusal().expect("a refusal").clone(),
        Ok(_) => panic!("it was not refused"),
    }
}

pub struct TestClock(AtomicI64);

impl TestClock {
    pub fn advance(&self, span: Duration) {
        self.0.fetch_add(i64::try_from(span.as_millis()).unwrap(), Ordering::SeqCst);
    }
}

impl Clock for TestClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(self.0.load(Ordering::SeqCst))
    }
}

/// Remembers what it was given and sends nothing.
#[derive(Default)]
pub struct Remembered {
    pub submitted: Mutex<Vec<LeasedDelivery>>,
    /// How many deliveries it refuses to hold, out of a hundred.
    pub taken: AtomicUsize,
}

impl Dispatch for Remembered {
    fn room(&self) -> usize {
        100 - self.taken.load(Ordering::SeqCst)
    }

    fn lease(&self) -> (LeaseToken, Timestamp) {
        (LeaseToken(1), Timestamp::from_millis(i64::MAX))
    }

    fn submit(&self, deliveries: Vec<LeasedDelivery>) {
        self.submitted.lock().unwrap().extend(deliveries);
    }
}

/// Lets notices go anywhere but to what says that it is private.
struct Anywhere;

impl TargetGuard for Anywhere {
    fn vet(&self, url: &str) -> Result<String, String> {
        if url.contains("private") {
            Err("must not be private".to_owned())
        } else {
            Ok(url.to_owned())
        }
    }
}
