//! Starts and stops all parts of a node except its HTTP servers.
//!
//! The order of the steps matters: settings and keys are checked before the database is changed.

pub(crate) mod base_urls;
pub(crate) mod database;

use std::{
    fs::File,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use rustls::pki_types::CertificateDer;
use sealpost_domain::{Clock, ports::StoreError, with_causes};
use sealpost_service::{Issuer, Parts, PeriodicThread, Sealpost, refresh_issuer, unlock};
use sealpost_storage::{Database, DatabaseUrl};
use sealpost_wallet::Keyring;
use sealpost_webhooks::{AddressGuard, AddressPolicy, Dispatcher};

use self::database::{check_encryption, migrate_or_reject, open_database, require_sqlite};
use crate::{
    clock::SystemClock,
    cosigners,
    embedded::{data_folder, disk_reserve},
    error::{NodeError, database_error},
    files::{circuits, regular_file, reserved_handles},
    journal::{
        keeper::JournalKeeper,
        record::Journal,
        recovery::{checkpoint_file, recover_and_attach, warn_of_loss},
    },
    keys::{source::KeySource, watch::KeyWatch},
    settings::{
        DispatcherSettings, KeySettings, ServiceSettings, Settings, WebhookSettings,
        base_url::BaseUrl,
    },
};

/// The running parts of a node, except HTTP.
pub(crate) struct Components {
    pub(crate) sealpost: Arc<Sealpost>,
    pub(crate) issuer: Arc<Issuer>,
    pub(crate) database: Arc<Database>,
    pub(crate) dispatcher: Arc<Dispatcher>,
    pub(crate) clock: Arc<dyn Clock>,
    keyring: Arc<Keyring>,
    key_watch: Option<KeyWatch>,
    disk_reserve: Option<PeriodicThread>,
    issuer_refresher: PeriodicThread,
    cosigners: Option<PeriodicThread>,
    journal_keeper: Option<JournalKeeper>,
    /// True if the node has begun to stop. Then `/readyz` fails, so that load balancers send no requests.
    is_stopping: AtomicBool,
    /// The configured public URL. `None` if the URL is that of the listening address.
    base_url: Option<String>,
    /// The lock file of the embedded database. The process holds the lock until the node is dropped. `None` with
    /// PostgreSQL.
    lock: Option<File>,
}

impl Components {
    /// Starts all parts except the HTTP servers. The settings must have passed
    /// [`check`](crate::settings::checks::check). Blocks the thread.
    pub(crate) fn start(settings: &Settings, base_url: &BaseUrl) -> Result<Self, NodeError> {
        let url = settings.database.database_url();
        let lock = match &url {
            DatabaseUrl::Sqlite(file) => {
                let lock = data_folder::lock(&settings.database, file)?;
                require_sqlite(file)?;
                data_folder::warn_of_replaceable(&settings.database, file);
                Some(lock)
            }
            DatabaseUrl::Postgres(_) => None,
        };
        let key_source = KeySource::new(&settings.keys, &settings.database)?;
        // Rejects an invalid key file before the database is created.
        key_source.check()?;
        check_encryption(&settings.database, &url)?;
        let database = open_database(&settings.database, &url)?;
        if let DatabaseUrl::Sqlite(file) = &url {
            warn_of_loss(&database, file)?;
        }
        let keyring = key_source.read_before_migration(&database)?;
        migrate_or_reject(&database, lock.is_some() || settings.migrate)?;
        let keyring = match keyring {
            Some(keyring) => Arc::new(keyring),
            None => Arc::new(key_source.read_or_create(&database)?),
        };
        if !keyring.is_memory_locked() {
            tracing::warn!(
                "key-encryption keys may be swapped: raise the limit of locked memory (LimitMEMLOCK)"
            );
        }
        unlock(&keyring, &database)
            .map_err(|error| NodeError::caused("the keys are rejected", error))?;
        database.authenticate_rows(Arc::<Keyring>::clone(&keyring));
        let clock: Arc<dyn Clock> = Arc::new(SystemClock);
        if lock.is_some() {
            // The lock excludes other servers. Every delivery lease in the database therefore belongs to a dead
            // process, and can be released.
            database.release_every_lease(clock.now()).map_err(database_error)?;
        }
        let database = Arc::new(database);
        let journal = recover_and_attach(&settings.database, &database, &clock)?;
        let shared = Shared { database, keyring, clock };
        let issuer = shared.open_issuer(base_url)?;
        let issuer_refresher = refresh_issuer(Arc::clone(&issuer))
            .map_err(|error| NodeError::caused("the refresh of issuer keys cannot start", error))?;
        let dispatcher = shared.start_dispatcher(settings, &issuer)?;
        let key_watch = shared.watch_keys(key_source, &settings.keys)?;
        let disk_reserve = shared.keep_disk_reserve(&url, settings)?;
        let journal_keeper = keep_journal(journal, &shared.database, settings)?;
        let sealpost = shared.start_service(settings, base_url, &issuer, &dispatcher)?;
        let cosigners = ask_witnesses(settings, &sealpost)?;
        let Shared { database, keyring, clock } = shared;
        let components = Self {
            sealpost,
            issuer,
            database,
            dispatcher,
            clock,
            keyring,
            key_watch,
            disk_reserve,
            issuer_refresher,
            cosigners,
            journal_keeper,
            is_stopping: AtomicBool::new(false),
            base_url: settings.http.base_url.as_ref().map(|_| base_url.as_str().to_owned()),
            lock,
        };
        for warning in components.warnings().map_err(database_error)? {
            tracing::warn!("{warning}");
        }
        Ok(components)
    }

    /// Returns the faults of the setup that do not prevent the node from serving. Blocks the thread.
    pub(crate) fn warnings(&self) -> Result<Vec<String>, StoreError> {
        let urls = match (&self.lock, &self.base_url) {
            (None, Some(url)) => base_urls::conflict(&self.database, url, self.clock.now())?,
            // Skips the comparison if the lock of an embedded database excludes other servers, or if no URL is
            // configured.
            (Some(_), _) | (_, None) => None,
        };
        let gap = self.journal_keeper.as_ref().and_then(|keeper| keeper.journal.gap());
        let log = self.sealpost.transparency_log.fault()?;
        let rights = self.database.missing_rights()?.map(|rights| rights.to_string());
        let key = self.missing_key()?;
        Ok(urls.into_iter().chain(gap).chain(log).chain(rights).chain(key).collect())
    }

    /// Returns a warning if the database uses a key version that this node has not loaded. This happens if the node has
    /// a copy of the key file, and an operator has rotated the key in the original.
    fn missing_key(&self) -> Result<Option<String>, StoreError> {
        let mut used = self.database.kek_marks()?.into_iter().map(|(version, _)| version);
        // Reads the loaded versions last, because a version that is loaded in between is not missing.
        let loaded = self.keyring.versions();
        Ok(used.find(|version| !loaded.contains(version)).map(|version| {
            format!(
                "this server lacks the key-encryption key version {version}, and responds with status 503 if a row \
                 needs it: give the server this version. If its key file is copied at the start, restart the server"
            )
        }))
    }

    /// Returns `false` if a worker thread has panicked. Such a thread is not started again, so the process must be
    /// restarted.
    pub(crate) fn is_whole(&self) -> bool {
        self.sealpost.is_alive() && !self.dispatcher.is_broken()
    }

    /// Returns true if the key provider has withdrawn the keys.
    pub(crate) fn has_lost_keys(&self) -> bool {
        self.key_watch.as_ref().is_some_and(KeyWatch::is_withdrawn)
    }

    /// Records that the node has begun to stop.
    pub(crate) fn begin_stop(&self) {
        self.is_stopping.store(true, Ordering::Relaxed);
    }

    /// Returns true if the node has begun to stop.
    pub(crate) fn is_stopping(&self) -> bool {
        self.is_stopping.load(Ordering::Relaxed)
    }

    /// Stops all parts. Commits queued messages, waits for webhook requests in flight, and releases the leases of
    /// deliveries that this node still holds. Blocks the thread.
    pub(crate) fn stop(&self) {
        // Stops the cosigners at the same time as the other parts, because a request to a witness may take seconds.
        self.cosigners.iter().for_each(PeriodicThread::begin_stop);
        self.sealpost.stop();
        self.dispatcher.stop();
        self.key_watch.iter().for_each(KeyWatch::stop);
        self.disk_reserve.iter().for_each(PeriodicThread::stop);
        self.issuer_refresher.stop();
        self.journal_keeper.iter().for_each(JournalKeeper::stop);
        self.cosigners.iter().for_each(PeriodicThread::stop);
        if let Err(error) = self.database.complete_file() {
            tracing::warn!(
                error = with_causes(&error),
                "the write-ahead log stays beside the database, and belongs to it"
            );
        }
    }

    /// Returns the number of revocations and similar changes that are not yet written to the revocation journal.
    pub(crate) fn pending_journal_lines(&self) -> u64 {
        self.journal_keeper.as_ref().map_or(0, |keeper| keeper.journal.pending())
    }
}

/// Dependencies that several components of the node share.
struct Shared {
    database: Arc<Database>,
    keyring: Arc<Keyring>,
    clock: Arc<dyn Clock>,
}

impl Shared {
    /// Loads the keys with which the service signs in its own name. Creates the first key in a new database.
    fn open_issuer(&self, base_url: &BaseUrl) -> Result<Arc<Issuer>, NodeError> {
        let store = Arc::<Database>::clone(&self.database);
        let (keyring, clock) = (Arc::clone(&self.keyring), Arc::clone(&self.clock));
        Issuer::open(store, keyring, clock, base_url.did().clone())
            .map(Arc::new)
            .map_err(|error| NodeError::caused("the issuer keys cannot be read", error))
    }

    fn start_dispatcher(
        &self,
        settings: &Settings,
        issuer: &Arc<Issuer>,
    ) -> Result<Arc<Dispatcher>, NodeError> {
        let WebhookSettings { dispatcher, extra_roots } = &settings.webhooks;
        let mut dispatcher = DispatcherSettings {
            policy: address_policy(settings),
            events: settings.service.events,
            retention: settings.service.retention,
            ..dispatcher.clone()
        };
        if let Some(file) = extra_roots {
            dispatcher.extra_roots.extend(read_extra_roots(file)?);
        }
        let dispatcher = Dispatcher::start(
            dispatcher,
            Arc::<Database>::clone(&self.database),
            Arc::clone(&self.keyring),
            Arc::clone(&self.clock),
            Some(Arc::<Issuer>::clone(issuer)),
        )
        .map_err(|error| NodeError::caused("the dispatcher cannot start", error))?;
        Ok(Arc::new(dispatcher))
    }

    /// Starts the thread that loads new keys. Returns `None` if the settings contain the keys, because such keys never
    /// change.
    fn watch_keys(
        &self,
        source: KeySource,
        settings: &KeySettings,
    ) -> Result<Option<KeyWatch>, NodeError> {
        if matches!(source, KeySource::Text(_)) {
            return Ok(None);
        }
        let (keyring, database) = (Arc::clone(&self.keyring), Arc::clone(&self.database));
        KeyWatch::start(source, keyring, database, settings)
            .map(Some)
            .map_err(|error| NodeError::caused("the watch of the keys cannot start", error))
    }

    fn keep_disk_reserve(
        &self,
        url: &DatabaseUrl,
        settings: &Settings,
    ) -> Result<Option<PeriodicThread>, NodeError> {
        let DatabaseUrl::Sqlite(file) = url else { return Ok(None) };
        let database = Arc::<Database>::clone(&self.database);
        disk_reserve::start(file, database, settings.service.min_free_bytes)
            .map(Some)
            .map_err(|error| NodeError::caused("the disk reserve cannot start", error))
    }

    fn start_service(
        &self,
        settings: &Settings,
        base_url: &BaseUrl,
        issuer: &Arc<Issuer>,
        dispatcher: &Arc<Dispatcher>,
    ) -> Result<Arc<Sealpost>, NodeError> {
        let parts = Parts {
            store: Arc::<Database>::clone(&self.database),
            dispatch: Arc::<Dispatcher>::clone(dispatcher),
            guard: Arc::new(AddressGuard::new(address_policy(settings))),
            keyring: Arc::clone(&self.keyring),
            clock: Arc::clone(&self.clock),
            issuer: Arc::clone(issuer),
            base_url: base_url.as_str().to_owned(),
            circuits: circuits::read(settings.circuits.as_deref())?,
        };
        let reserved_handles = reserved_handles::read(settings.reserved_handles.as_deref())?;
        let host_name = || rustix::system::uname().nodename().to_string_lossy().into_owned();
        let node_name = settings.service.node_name.clone().unwrap_or_else(host_name);
        let service = ServiceSettings {
            reserved_handles,
            node_name: Some(node_name),
            checkpoint_file: checkpoint_file(&settings.database, &self.database)?,
            has_log_witnesses: !settings.log_witnesses.is_empty(),
            ..settings.service.clone()
        };
        let sealpost = Sealpost::start(parts, service)
            .map_err(|error| NodeError::caused("the committer cannot start", error))?;
        Ok(Arc::new(sealpost))
    }
}

fn ask_witnesses(
    settings: &Settings,
    sealpost: &Arc<Sealpost>,
) -> Result<Option<PeriodicThread>, NodeError> {
    let witnesses = &settings.log_witnesses;
    if witnesses.is_empty() {
        return Ok(None);
    }
    let started = cosigners::start(witnesses.clone(), Arc::clone(sealpost));
    started
        .map(Some)
        .map_err(|error| NodeError::caused("the thread of the witnesses cannot start", error))
}

fn keep_journal(
    journal: Option<Arc<Journal>>,
    database: &Arc<Database>,
    settings: &Settings,
) -> Result<Option<JournalKeeper>, NodeError> {
    let retention = settings.journal_retention.0;
    let start = |journal| JournalKeeper::start(journal, Arc::clone(database), retention);
    let started = journal.map(start).transpose();
    started.map_err(|error| {
        NodeError::caused("the thread of the revocation journal cannot start", error)
    })
}

fn address_policy(settings: &Settings) -> AddressPolicy {
    AddressPolicy { dev: settings.dev, ..settings.webhooks.dispatcher.policy.clone() }
}

/// Reads the PEM file of certificate authorities that webhook requests trust in addition to the public ones.
pub(crate) fn read_extra_roots(file: &Path) -> Result<Vec<CertificateDer<'static>>, NodeError> {
    let message = || format!("--webhook-extra-roots {} cannot be used", file.display());
    let pem = regular_file::read_text(file, ROOTS_BYTES_MAX)
        .map_err(|error| NodeError::caused(message(), error))?;
    sealpost_webhooks::read_roots(pem.as_bytes())
        .map_err(|error| NodeError::caused(message(), error))
}

/// Maximum size of the file of additional certificate authorities in bytes.
const ROOTS_BYTES_MAX: u64 = 4_194_304;
