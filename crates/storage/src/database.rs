//! The type [`Database`], through which the service migrates a database and opens transactions and lookups.

use std::{
    io,
    path::Path,
    sync::{Arc, OnceLock},
};

use parking_lot::FairMutex;
use sealpost_domain::ports::{Durability, RowAuthenticator, StoreError};

use crate::{
    connection::{
        AnyConnection,
        access_hook::AccessHook,
        checkpointer::{Checkpointer, checkpoint},
        connect::{self, ConnectError, Target},
        durable_commits::DurableCommits,
        encryption,
        journaled_acts::SharedJournal,
        opened_files::OpenedFiles,
        pool::{self, Pool},
        query_error::{QueryError, refused, unavailable},
        url::DatabaseUrl,
    },
    disk_space,
    housekeeping::purge_cursor::PurgeCursor,
    migrations, owned_file,
    queue::{claim_cursor::ClaimCursor, success_throttle::SuccessThrottle},
    rows::row_tags::RowTags,
    send::facts_cache::FactsCache,
    settings::Settings,
};

/// The numbers of busy and idle connections of one pool.
#[derive(Debug, Clone, Copy)]
pub struct PoolState {
    /// Name of the pool, such as `readers`.
    pub pool: &'static str,
    /// Number of connections in use.
    pub busy: u32,
    /// Number of open connections that are free.
    pub idle: u32,
}

/// An open database. Clones share its connections.
#[derive(Debug, Clone)]
pub struct Database {
    pub(crate) writers: Pool,
    pub(crate) readers: Pool,
    /// The separate connection of the committer, the thread that stores sends in batches. `None` on SQLite, where the
    /// committer waits for the write lock like other writers.
    committer: Option<Arc<CommitterConnection>>,
    /// The lock of writers on SQLite; `None` on PostgreSQL. Writers get the lock in the order of arrival. The pool
    /// alone is not fair: a busy writer could return the only connection and take it again at once, before all waiting
    /// writers.
    pub(crate) write_lock: Option<Arc<FairMutex<()>>>,
    /// The thread that runs the checkpoints of SQLite; `None` on PostgreSQL.
    pub(crate) checkpointer: Option<Arc<Checkpointer>>,
    /// The positions at which the next [claim](sealpost_domain::ports::Claim) continues to search for due deliveries.
    /// Clones share the positions, so that no webhook is skipped.
    pub(crate) claim_cursor: Arc<ClaimCursor>,
    pub(crate) success_throttle: Arc<SuccessThrottle>,
    pub(crate) purge_cursor: Arc<PurgeCursor>,
    pub(crate) facts_cache: Arc<FactsCache>,
    pub(crate) journal: SharedJournal,
    pub(crate) row_tags: RowTags,
    pub(crate) durable_commits: Arc<DurableCommits>,
    pub(crate) settings: Settings,
    /// Path of the SQLite file; `None` for PostgreSQL.
    pub(crate) file: Option<Arc<Path>>,
    pub(crate) opened_files: Option<OpenedFiles>,
    pub(crate) hook: AccessHook,
}

/// The separate PostgreSQL connection of the thread that stores sends in batches. Opened at first use.
#[derive(Debug)]
struct CommitterConnection {
    target: Target,
    pool: OnceLock<Pool>,
}

impl Database {
    /// Opens the database, and creates the file of an SQLite database if it is missing.
    ///
    /// Connects at once, so that this function returns connection errors: [`StoreError::Unavailable`] for an
    /// unreachable server, [`StoreError::Refused`] for an unusable file or for contradictory encryption settings.
    pub fn open(url: &DatabaseUrl, settings: Settings) -> Result<Self, StoreError> {
        let cache = Arc::new(FactsCache::new(settings.keys_cached_max));
        let open = |name, target, size| pool::open(name, target, size, &settings, &cache);
        match url {
            DatabaseUrl::Postgres(url) => {
                let url = encryption::encrypted(url, settings.in_clear).map_err(refused)?;
                let target = Target::Postgres(url);
                // One connection is reserved for the committer, the thread that stores sends in batches.
                let size = settings.pool_max.saturating_sub(1).max(1);
                let writers = open("all", target.clone(), size).map_err(unavailable)?;
                let mut conn = writers.get().map_err(unavailable)?;
                conn.run(connect::require_usable)?;
                drop(conn);
                let readers = writers.clone();
                let commits = DurableCommits::new(target.clone(), settings);
                let committer =
                    Some(Arc::new(CommitterConnection { target, pool: OnceLock::new() }));
                Ok(Self {
                    committer,
                    ..Self::new((writers, readers), commits, None, cache, settings)
                })
            }
            DatabaseUrl::Sqlite(path) => {
                let path = owned_file::resolve_links(path);
                let target = Target::SqliteWriter(path.clone());
                let commits = DurableCommits::new(target.clone(), settings);
                let writers = open("writers", target.clone(), 1).map_err(unusable)?;
                let readers =
                    open("readers", Target::SqliteReader(path.clone()), settings.pool_max)
                        .map_err(unusable)?;
                let write_lock = Arc::<FairMutex<()>>::default();
                let connection = connect::connect(&target, &settings).map_err(unusable)?;
                let lock = Arc::clone(&write_lock);
                let checkpointer = Checkpointer::start(connection, target, settings, lock);
                Ok(Self {
                    opened_files: Some(OpenedFiles::at(&path)),
                    file: Some(path.into()),
                    checkpointer: Some(Arc::new(checkpointer.map_err(unavailable)?)),
                    ..Self::new((writers, readers), commits, Some(write_lock), cache, settings)
                })
            }
        }
    }

    fn new(
        (writers, readers): (Pool, Pool),
        durable_commits: DurableCommits,
        write_lock: Option<Arc<FairMutex<()>>>,
        facts_cache: Arc<FactsCache>,
        settings: Settings,
    ) -> Self {
        Self {
            writers,
            readers,
            committer: None,
            write_lock,
            checkpointer: None,
            claim_cursor: Arc::default(),
            success_throttle: Arc::new(SuccessThrottle::new(settings.keys_cached_max)),
            purge_cursor: Arc::default(),
            facts_cache,
            journal: SharedJournal::default(),
            row_tags: RowTags::default(),
            durable_commits: Arc::new(durable_commits),
            settings,
            file: None,
            opened_files: None,
            hook: AccessHook::default(),
        }
    }

    /// Attaches the keys that compute and verify the tags (authentication codes) of sessions, API tokens, badges and
    /// account secrets. Clones of the database share the keys. Without keys, methods that need a tag return
    /// [`StoreError::Refused`]. Does nothing if keys are already attached.
    pub fn authenticate_rows(&self, authenticator: Arc<dyn RowAuthenticator>) {
        self.row_tags.attach(authenticator);
    }

    /// Applies all missing migrations and returns their names. Several nodes may migrate at the same time. Refuses a
    /// database with migrations that this binary does not know. Exception: additive migrations, with which older
    /// binaries can still use the database.
    pub fn migrate(&self) -> Result<Vec<String>, StoreError> {
        self.migrate_with_progress(&|_name| {})
    }

    /// Applies all missing migrations like [`migrate`](Self::migrate). Calls `progress` with the name of each migration
    /// before it is applied. After a conflict with another transaction, repeats all migrations, and reports their names
    /// again.
    pub fn migrate_with_progress(
        &self,
        progress: &dyn Fn(&str),
    ) -> Result<Vec<String>, StoreError> {
        let begin = || Ok(self.begin(Durability::Durable)?.without_deadline());
        let applied = Self::write_in(begin, |tx| tx.run(|conn| migrations::apply(conn, progress)));
        applied.map_err(|error| self.with_missing_rights(error))
    }

    /// Returns the names of the missing migrations. Refuses the same databases as [`migrate`](Self::migrate).
    pub fn pending_migrations(&self) -> Result<Vec<String>, StoreError> {
        self.look_up(migrations::pending)
    }

    /// Copies the write-ahead log of SQLite into the database file, so that this file alone contains all data after the
    /// server stops. If another process is reading, some pages can stay in the log. Does nothing on PostgreSQL.
    pub fn complete_file(&self) -> Result<(), StoreError> {
        if self.file.is_none() {
            return Ok(());
        }
        let mut writer = self.writers.get().map_err(unavailable)?;
        let copied = writer.run(|conn| match conn {
            AnyConnection::Sqlite(conn) => Ok(checkpoint(conn, "PASSIVE").map(drop)?),
            AnyConnection::Postgres(_) => Ok(()),
        });
        Ok(copied?)
    }

    /// Returns the state of each pool. PostgreSQL has one pool for the thread that stores sends in batches, and one for
    /// all other work. SQLite has one pool for readers and one for the writer.
    pub fn pool_states(&self) -> Vec<PoolState> {
        let mut pools = match self.write_lock {
            None => vec![("all", &self.readers)],
            Some(_) => vec![("readers", &self.readers), ("writers", &self.writers)],
        };
        let committer = self.committer.as_ref().and_then(|committer| committer.pool.get());
        pools.extend(committer.map(|pool| ("committer", pool)));
        let of = |(pool, connections): (&'static str, &Pool)| {
            let state = connections.state();
            let busy = state.connections.saturating_sub(state.idle_connections);
            PoolState { pool, busy, idle: state.idle_connections }
        };
        pools.into_iter().map(of).collect()
    }

    /// Returns the free bytes on the disk of an SQLite database; `None` for PostgreSQL.
    pub fn free_bytes(&self) -> io::Result<Option<u64>> {
        let free = self.file.as_deref().map(disk_space::free_bytes).transpose();
        free.map_err(io::Error::from)
    }

    /// Returns the path of the SQLite file; `None` for PostgreSQL.
    pub fn file(&self) -> Option<&Path> {
        self.file.as_deref()
    }

    /// Returns a clone with a reserved connection, for the thread that stores sends in batches. The thread then never
    /// waits for a connection that another thread uses. `None` on SQLite, where the thread uses `self`.
    pub fn for_committer(&self) -> Result<Option<Self>, StoreError> {
        let Some(CommitterConnection { target, pool }) = self.committer.as_deref() else {
            return Ok(None);
        };
        if pool.get().is_none() {
            let cache = &self.facts_cache;
            let opened = pool::open("committer", target.clone(), 1, &self.settings, cache);
            // An error only means that another thread has opened the pool in the meantime, so it is ignored.
            drop(pool.set(opened.map_err(unavailable)?));
        }
        let own = pool.get().cloned();
        Ok(own.map(|writers| Self { writers, ..self.clone() }))
    }

    /// Checks that the database responds and has the schema that this version of the service needs.
    pub fn check(&self) -> Result<(), StoreError> {
        let pending = self.pending_migrations()?;
        if pending.is_empty() {
            return Ok(());
        }
        Err(refused(migrations::VersionError::Behind(pending.join(", "))))
    }

    /// Returns true if only one write transaction can run at a time: true for SQLite, false for PostgreSQL.
    pub fn has_single_writer(&self) -> bool {
        self.write_lock.is_some()
    }

    /// Returns true if an embedded database has room for less than `min_free_bytes`. Counts the free space of the disk
    /// and the unused space inside the database. Always false for a database server.
    pub fn is_short_of_space(&self, min_free_bytes: u64) -> Result<bool, StoreError> {
        let Some(file) = &self.file else { return Ok(false) };
        let free = disk_space::free_bytes(file).map_err(unavailable)?;
        if !disk_space::is_short(min_free_bytes, free, 0) {
            return Ok(false);
        }
        let reusable = self.look_up(disk_space::reusable_bytes)?;
        Ok(disk_space::is_short(min_free_bytes, free, reusable))
    }
}

/// Classifies an error that occurred while an SQLite file was opened. Errors of the first statements can be temporary,
/// for example if another process has locked the file. All other errors are [`StoreError::Refused`].
fn unusable(fault: ConnectError) -> StoreError {
    match fault {
        ConnectError::Setup(error) => QueryError::Driver(error).into(),
        other => refused(other),
    }
}
