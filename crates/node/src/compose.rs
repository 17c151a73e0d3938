//! Puts the parts together, in the order in which a mistake is noticed before it does harm, and takes them apart
//! again.

use std::{
    fs::{self, File, TryLockError},
    os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _},
    path::{Path, PathBuf},
    sync::Arc,
    time::{SystemTime, UNIX_EPOCH},
};

use sealpost_domain::{Clock, Timestamp};
use sealpost_service::{Issuer, Parts, Refresher, Sealpost, unlock};
use sealpost_storage::{Database, DatabaseUrl, Settings as PoolSettings};
use sealpost_wallet::Keyring;
use sealpost_webhooks::{AddressGuard, AddressPolicy, Dispatcher, Settings as DispatcherSettings};

use crate::{
    base_url::BaseUrl,
    circuits, config,
    error::{Failure, NodeError},
    kek,
    settings::{DatabaseSettings, Settings, WebhookSettings},
};

/// The running parts of a node.
pub(crate) struct Components {
    pub(crate) sealpost: Arc<Sealpost>,
    pub(crate) issuer: Arc<Issuer>,
    pub(crate) database: Arc<Database>,
    pub(crate) dispatcher: Arc<Dispatcher>,
    pub(crate) clock: Arc<dyn Clock>,
    kek_watch: Option<kek::Watch>,
    issuer_refresher: Refresher,
    /// Held for as long as the node runs.
    _lock: Option<File>,
}

impl Components {
    /// Starts everything but HTTP.
    pub(crate) fn start(settings: &Settings, base_url: &BaseUrl) -> Result<Self, NodeError> {
        config::check_listen(settings)?;
        config::check_lease(settings)?;
        config::check_timeouts(&settings.http)?;
        config::check_body_memory(&settings.http)?;
        let url = settings.database.database_url();
        let lock = match &url {
            DatabaseUrl::Sqlite(file) => Some(lock(&settings.database, file)?),
            DatabaseUrl::Postgres(_) => None,
        };
        let paths = settings.database.embedded_paths();
        let kek_source = config::kek_source(&settings.kek, &paths)?;
        let keyring = Arc::new(kek::read(&kek_source)?);
        let database = open_database(&settings.database, &url)?;
        bring_up_to_date(&database, lock.is_some() || settings.migrate)?;
        unlock(&keyring, &database).map_err(|error| {
            NodeError::Start(Failure::caused("the database stays locked", error))
        })?;
        let clock: Arc<dyn Clock> = Arc::new(SystemClock);
        if lock.is_some() {
            // Nobody else serves this file, so whoever holds a lease is dead.
            database.release_every_lease(clock.now()).map_err(database_error)?;
        }
        let database = Arc::new(database);
        let issuer = open_issuer(&database, &keyring, &clock, base_url)?;
        let issuer_refresher = Refresher::start(Arc::clone(&issuer)).map_err(|error| {
            NodeError::Start(Failure::caused("issuer keys cannot be looked for", error))
        })?;
        let dispatcher = start_dispatcher(settings, &database, &keyring, &clock, &issuer)?;
        let kek_watch = watch_keys(&kek_source, &keyring, &database)?;
        let guard = AddressGuard::new(AddressPolicy { dev: settings.dev });
        let parts = Parts {
            store: Arc::<Database>::clone(&database),
            dispatch: Arc::<Dispatcher>::clone(&dispatcher),
            guard: Arc::new(guard),
            keyring,
            clock: Arc::clone(&clock),
            issuer: Arc::clone(&issuer),
            base_url: base_url.as_str().to_owned(),
            circuits: circuits::read(settings.circuits.as_deref())?,
        };
        let sealpost = Sealpost::start(parts, settings.service.clone()).map_err(|error| {
            NodeError::Start(Failure::caused("the committer cannot start", error))
        })?;
        Ok(Self {
            sealpost: Arc::new(sealpost),
            issuer,
            database,
            dispatcher,
            clock,
            kek_watch,
            issuer_refresher,
            _lock: lock,
        })
    }

    /// Whether no thread has ended by a fault. One that has does not come back, but a new process mends it.
    pub(crate) fn is_whole(&self) -> bool {
        self.sealpost.is_alive() && !self.dispatcher.is_broken()
    }

    /// Stores what waits, lets deliveries under way end, gives the rest back. Blocks.
    pub(crate) fn stop(&self) {
        self.sealpost.stop();
        self.dispatcher.stop();
        if let Some(watch) = &self.kek_watch {
            watch.stop();
        }
        self.issuer_refresher.stop();
    }
}

/// Opens a database, without asking whether it is up to date.
pub fn open_database(
    settings: &DatabaseSettings,
    url: &DatabaseUrl,
) -> Result<Database, NodeError> {
    if let DatabaseUrl::Sqlite(file) = url {
        make_folder_of(file)?;
    }
    let pool = PoolSettings { pool_max: settings.pool_max, ..PoolSettings::default() };
    Database::open(url, pool).map_err(database_error)
}

/// A database that cannot be used.
pub fn database_error(error: impl std::error::Error + Send + Sync + 'static) -> NodeError {
    NodeError::Database(Failure::caused("the database cannot be used", error))
}

fn bring_up_to_date(database: &Database, migrate: bool) -> Result<(), NodeError> {
    if migrate {
        database.migrate().map_err(database_error)?;
        return Ok(());
    }
    let pending = database.pending_migrations().map_err(database_error)?;
    if pending.is_empty() {
        return Ok(());
    }
    Err(NodeError::Start(Failure::new(format!(
        "the database is {} migrations behind this version; run `sealpost migrate`, or serve with --migrate",
        pending.len()
    ))))
}

/// The service in its own name; the first start of all makes its first key.
fn open_issuer(
    database: &Arc<Database>,
    keyring: &Arc<Keyring>,
    clock: &Arc<dyn Clock>,
    base_url: &BaseUrl,
) -> Result<Arc<Issuer>, NodeError> {
    let (store, did) = (Arc::<Database>::clone(database), base_url.did().clone());
    Issuer::open(store, Arc::clone(keyring), Arc::clone(clock), did)
        .map(Arc::new)
        .map_err(|error| NodeError::Start(Failure::caused("the issuer keys cannot be read", error)))
}

fn start_dispatcher(
    settings: &Settings,
    database: &Arc<Database>,
    keyring: &Arc<Keyring>,
    clock: &Arc<dyn Clock>,
    issuer: &Arc<Issuer>,
) -> Result<Arc<Dispatcher>, NodeError> {
    let WebhookSettings { dispatcher, extra_roots } = &settings.webhooks;
    let policy = AddressPolicy { dev: settings.dev };
    let mut dispatcher = DispatcherSettings { policy, ..dispatcher.clone() };
    if let Some(file) = extra_roots {
        trust(&mut dispatcher, file)?;
    }
    let dispatcher = Dispatcher::start(
        dispatcher,
        Arc::<Database>::clone(database),
        Arc::clone(keyring),
        Arc::clone(clock),
        Some(Arc::<Issuer>::clone(issuer)),
    )
    .map_err(|error| NodeError::Start(Failure::caused("the dispatcher cannot start", error)))?;
    Ok(Arc::new(dispatcher))
}

/// Adds the authorities of a PEM file to those that receivers' certificates may lead to.
fn trust(settings: &mut DispatcherSettings, file: &Path) -> Result<(), NodeError> {
    let what = format!("--webhook-extra-roots {} cannot be used", file.display());
    let pem =
        fs::read(file).map_err(|error| NodeError::Start(Failure::caused(what.as_str(), error)))?;
    let roots = sealpost_webhooks::read_roots(&pem)
        .map_err(|error| NodeError::Start(Failure::caused(what, error)))?;
    settings.extra_roots.extend(roots);
    Ok(())
}

/// Keys from a file may become more while the node runs.
fn watch_keys(
    source: &kek::KekSource<'_>,
    keyring: &Arc<Keyring>,
    database: &Arc<Database>,
) -> Result<Option<kek::Watch>, NodeError> {
    let start = |file| {
        kek::Watch::start(file, Arc::clone(keyring), Arc::<Database>::clone(database)).map_err(
            |error| NodeError::Start(Failure::caused("the key file cannot be watched", error)),
        )
    };
    source.file().map(start).transpose()
}

/// Two servers on one embedded database would each think that they are alone.
fn lock(settings: &DatabaseSettings, database: &Path) -> Result<File, NodeError> {
    make_folder_of(database)?;
    let mut path = database.as_os_str().to_owned();
    path.push(".lock");
    let path = PathBuf::from(path);
    let cannot = |error| {
        NodeError::Start(Failure::caused(
            format!("the lock {} cannot be taken", path.display()),
            error,
        ))
    };
    let mut options = File::options();
    let file =
        options.create(true).truncate(false).write(true).mode(0o600).open(&path).map_err(cannot)?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::Error(error)) => Err(cannot(error)),
        Err(TryLockError::WouldBlock) => Err(NodeError::Start(Failure::new(format!(
            "another server is running on {}; stop it, or give this one another --data-dir than {}",
            database.display(),
            settings.data_dir.display()
        )))),
    }
}

/// A folder that is not there yet is its owner's alone.
pub(crate) fn make_folder_of(file: &Path) -> Result<(), NodeError> {
    let Some(folder) = file.parent().filter(|folder| !folder.as_os_str().is_empty()) else {
        return Ok(());
    };
    if folder.is_dir() {
        return Ok(());
    }
    fs::DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(|error| {
        NodeError::Start(Failure::caused(
            format!("the data folder {} cannot be made", folder.display()),
            error,
        ))
    })
}

/// The time of the machine.
#[derive(Debug, Clone, Copy)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "this is the clock that everybody else asks")]
    fn now(&self) -> Timestamp {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Timestamp::from_millis(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
    }
}
