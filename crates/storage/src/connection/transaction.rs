//! Begins, commits and rolls back transactions. No other module does so.

use std::{
    collections::HashMap,
    mem,
    ops::{Deref, DerefMut},
    path::Path,
    sync::Arc,
    time::Instant,
};

use diesel::{
    connection::{AnsiTransactionManager, TransactionManager},
    dsl::Limit,
    prelude::*,
    query_dsl::methods::{ExecuteDsl, LimitDsl, LoadQuery},
};
use parking_lot::{ArcMutexGuard, RawFairMutex};
use sealpost_domain::{
    ApiKeyId, ChannelId, Handle,
    ports::{Durability, StoreError},
};

use crate::{
    connection::{
        AnyConnection,
        checkpointer::Checkpointer,
        durable_commits::DurableCommits,
        journaled_acts::JournaledActs,
        on_backend,
        pool::{Connection, Pool, PooledConnection},
        query_error::{QueryError, refused, unavailable},
        write_probe::{self, CONFIRMED_FROM},
    },
    database::Database,
    disk_space,
    housekeeping::purge_cursor::PurgeCursor,
    query::row_address::RowAddress,
    rows::{columns, row_tags::RowTags},
    send::facts_cache::{FactsCache, Generation},
};

/// A transaction on a pooled connection. Reads rows like a [`Reader`]. Dropping a transaction rolls it back.
pub struct Transaction {
    reader: Reader,
    pub(crate) facts_cache: Arc<FactsCache>,
    /// The generation of `facts_cache` (how often it was cleared) when this transaction began.
    pub(crate) generation: Generation,
    /// The channels (shared key encapsulations) whose rows exist after the commit, which adds them to `facts_cache`.
    pub(crate) stored_channels: Vec<ChannelId>,
    /// The row addresses (`ctid`) of the usage rows that this transaction has locked. A usage row has the counters of
    /// an API key. Empty on SQLite.
    pub(crate) usage_addresses: HashMap<ApiKeyId, RowAddress>,
    /// Changes of this transaction that a restored backup would undo, such as revocations. These changes are appended
    /// to the revocation journal after the commit.
    pub(crate) journaled_acts: JournaledActs,
    /// Runs the commit with a deadline. `None` for a relaxed transaction, whose commit does not wait for the disk, and
    /// for a migration or the move of a database into PostgreSQL, whose commit may take long.
    durable_commits: Option<Arc<DurableCommits>>,
    /// The positions from which deletions of expired rows continue.
    pub(crate) purge_cursor: Arc<PurgeCursor>,
    /// For each table, the time of the last expired row that this transaction deletes. After the commit, `purge_cursor`
    /// continues at this time.
    pub(crate) purged: Vec<(&'static str, i64)>,
    /// The file of an SQLite database; `None` for PostgreSQL.
    file: Option<Arc<Path>>,
    /// The thread that runs checkpoints of SQLite. Woken after the commit.
    checkpointer: Option<Arc<Checkpointer>>,
    /// The exclusive right to write on SQLite. Must be the last field, because fields are dropped in order: the
    /// connection must be back in the pool before the next writer starts.
    _write_guard: Option<WriteGuard>,
}

/// Holds the write lock of SQLite. Dropping the guard passes the lock to the writer that has waited longest.
type WriteGuard = ArcMutexGuard<RawFairMutex, ()>;

impl Transaction {
    /// Begins a transaction that may write. If the connection is dead, begins on another connection, because no work is
    /// lost yet.
    pub(crate) fn begin(
        database: &Database,
        write_guard: Option<WriteGuard>,
        durability: Durability,
    ) -> Result<Self, StoreError> {
        let mut connection = database.writers.get().map_err(unavailable)?;
        if let Err(fault) = begin(&mut connection, durability) {
            if !connection.is_dead {
                return Err(fault.into());
            }
            // The dead connection is returned first, so that the pool tests the next connection at checkout.
            drop(connection);
            connection = database.writers.get().map_err(unavailable)?;
            begin(&mut connection, durability)?;
        }
        let durable_commits =
            (durability == Durability::Durable).then(|| Arc::clone(&database.durable_commits));
        Ok(Self {
            reader: Reader::new(connection, database.row_tags.clone()),
            facts_cache: Arc::clone(&database.facts_cache),
            generation: database.facts_cache.generation(),
            stored_channels: Vec::new(),
            usage_addresses: HashMap::new(),
            journaled_acts: JournaledActs::new(&database.journal),
            durable_commits,
            purge_cursor: Arc::clone(&database.purge_cursor),
            purged: Vec::new(),
            file: database.file.clone(),
            checkpointer: database.checkpointer.clone(),
            _write_guard: write_guard,
        })
    }

    /// Removes the deadline of the commit. Needed for migrations, and for moving a database into PostgreSQL: such a
    /// commit may take long.
    pub(crate) fn without_deadline(mut self) -> Self {
        self.durable_commits = None;
        self
    }

    /// Commits the transaction, and then appends its revocations and similar changes to the revocation journal. If one
    /// of its statements has failed, rolls back and returns [`StoreError::Refused`].
    pub fn commit(mut self) -> Result<(), StoreError> {
        if self.failed {
            // PostgreSQL would report success although it rolls back, so COMMIT is not sent.
            return Err(refused("cannot commit: a statement of this transaction failed"));
        }
        let acts = mem::take(&mut self.journaled_acts);
        let is_durable = self.durable_commits.is_some();
        let pending = self.run(|conn| acts.raise_mark(conn, is_durable))?;
        let done = match self.durable_commits.clone() {
            None => self.commit_now(),
            Some(commits) => commits.run(self.connection.server_process, || self.commit_durably()),
        };
        if let Some(pending) = pending {
            pending.append(&done);
        }
        done
    }

    /// Commits, and waits for the disk and the standby servers. During a slow commit, the server may have cancelled the
    /// wait for a standby. A second commit then proves that the standby has the first one.
    fn commit_durably(mut self) -> Result<(), StoreError> {
        let began = Instant::now();
        self.commit_now()?;
        if began.elapsed() < CONFIRMED_FROM {
            return Ok(());
        }
        self.connection.run(write_probe::confirm).map_err(|fault| {
            self.connection.is_dead = true;
            StoreError::InDoubt(StoreError::from(fault).into())
        })
    }

    fn commit_now(&mut self) -> Result<(), StoreError> {
        let done = self
            .connection
            .run(|conn| Ok(on_backend!(conn, c => AnsiTransactionManager::commit_transaction(c))?));
        if let Some(checkpointer) = &self.checkpointer {
            checkpointer.wake();
        }
        if done.is_ok() {
            self.purge_cursor.purged(&self.purged);
            self.facts_cache.insert_channels(self.generation, &self.stored_channels);
        }
        // A write beyond the file size limit has stored nothing, like a write on a full disk. The commit has therefore
        // failed, and is not in doubt.
        let is_limited = || self.file.as_deref().is_some_and(disk_space::has_reached_size_limit);
        done.map_err(|fault| if is_limited() { fault.into() } else { fault.at_commit() })
    }
}

impl Deref for Transaction {
    type Target = Reader;

    fn deref(&self) -> &Reader {
        &self.reader
    }
}

impl DerefMut for Transaction {
    fn deref_mut(&mut self) -> &mut Reader {
        &mut self.reader
    }
}

impl Drop for Transaction {
    fn drop(&mut self) {
        if self.connection.is_dead {
            return;
        }
        let done = on_backend!(&mut self.connection.backend, c => {
            match AnsiTransactionManager::transaction_manager_status_mut(c).transaction_depth() {
                Ok(Some(_)) => AnsiTransactionManager::rollback_transaction(c),
                Ok(None) | Err(_) => Ok(()),
            }
        });
        // If the rollback fails, the pool closes the connection, which ends the transaction.
        self.connection.is_dead |= done.is_err();
    }
}

/// Begins a transaction with the settings that each database needs.
fn begin(connection: &mut Connection, durability: Durability) -> Result<(), QueryError> {
    let relaxed = durability == Durability::Relaxed;
    let sql = match (&connection.backend, relaxed, connection.is_relaxed) {
        // Sets the isolation level again, because a pooler may have set it on another server connection.
        (AnyConnection::Postgres(_), false, _) => "BEGIN ISOLATION LEVEL READ COMMITTED",
        (AnyConnection::Postgres(_), true, _) => {
            "BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL synchronous_commit = off"
        }
        // Takes the write lock at once. A deferred transaction would take the lock at its first write, and fail if
        // another transaction has written in the meantime.
        (AnyConnection::Sqlite(_), true, false) => "PRAGMA synchronous = NORMAL; BEGIN IMMEDIATE",
        (AnyConnection::Sqlite(_), false, true) => "PRAGMA synchronous = FULL; BEGIN IMMEDIATE",
        (AnyConnection::Sqlite(_), _, _) => "BEGIN IMMEDIATE",
    };
    // The flag is set before the statement. If the statement fails half-way, the next durable transaction resets the
    // pragma.
    connection.is_relaxed |= relaxed;
    begin_with(connection, sql)?;
    connection.is_relaxed = relaxed;
    Ok(())
}

/// Runs statements that begin a transaction. If they fail on PostgreSQL, marks the connection as dead: BEGIN may have
/// succeeded before a later statement failed, and diesel does not know of the open transaction.
pub(crate) fn begin_with(connection: &mut Connection, sql: &str) -> Result<(), QueryError> {
    let began = connection.run(|conn| {
        Ok(on_backend!(conn, c => AnsiTransactionManager::begin_transaction_sql(c, sql))?)
    });
    connection.is_dead |=
        began.is_err() && matches!(connection.backend, AnyConnection::Postgres(_));
    began
}

/// Reads rows. [`Database::read`](crate::Database::read) opens a reader outside a transaction: each read then sees all
/// rows that were committed before the read. A [`Transaction`](crate::Transaction) reads through its own reader.
pub struct Reader {
    pub(crate) connection: PooledConnection,
    /// True after a failed statement. A failed transaction cannot be committed.
    pub(crate) failed: bool,
    /// Owners of the handles that were read; `None` for a free handle. Assigning a handle fails if its owner has
    /// changed since then.
    pub(crate) handles_seen: HashMap<Handle, Option<ApiKeyId>>,
    /// The keys that compute and verify the tags (authentication codes) of rows.
    pub(crate) row_tags: RowTags,
}

impl Reader {
    pub(crate) fn open(pool: &Pool, row_tags: &RowTags) -> Result<Self, StoreError> {
        Ok(Self::new(pool.get().map_err(unavailable)?, row_tags.clone()))
    }

    pub(crate) fn new(connection: PooledConnection, row_tags: RowTags) -> Self {
        Self { connection, failed: false, handles_seen: HashMap::new(), row_tags }
    }

    /// Runs statements and classifies their errors.
    pub(crate) fn run<T>(
        &mut self,
        work: impl FnOnce(&mut AnyConnection) -> Result<T, QueryError>,
    ) -> Result<T, StoreError> {
        self.connection.run(work).map_err(|fault| {
            self.failed = true;
            fault.into()
        })
    }

    /// Runs a statement without result rows. Returns the number of rows that it has inserted, changed or deleted.
    pub(crate) fn execute(
        &mut self,
        statement: impl ExecuteDsl<AnyConnection>,
    ) -> Result<usize, StoreError> {
        self.run(|conn| Ok(ExecuteDsl::execute(statement, conn)?))
    }

    /// Runs a statement that must change exactly one row. `row` names the row in the error.
    pub(crate) fn change_one(
        &mut self,
        statement: impl ExecuteDsl<AnyConnection>,
        row: &'static str,
    ) -> Result<(), StoreError> {
        self.run(|conn| columns::one(ExecuteDsl::execute(statement, conn)?, row))
    }

    /// Reads the result of a query that counts rows. `name` names the number in the error.
    pub(crate) fn number<'query, Q>(
        &mut self,
        query: Q,
        name: &'static str,
    ) -> Result<u64, StoreError>
    where
        Q: LoadQuery<'query, AnyConnection, i64>,
    {
        self.run(|conn| columns::number(query.get_result(conn)?, name))
    }

    /// Loads the rows of a query, and converts each of them.
    pub(crate) fn load<'query, Q, R, T>(
        &mut self,
        query: Q,
        read: impl FnMut(R) -> Result<T, QueryError>,
    ) -> Result<Vec<T>, StoreError>
    where
        Q: LoadQuery<'query, AnyConnection, R>,
    {
        self.run(|conn| query.load(conn)?.into_iter().map(read).collect())
    }

    /// Loads the first row of a query, and converts it. `None` if the query has no row.
    pub(crate) fn first<'query, Q, R, T>(
        &mut self,
        query: Q,
        read: impl FnOnce(R) -> Result<T, QueryError>,
    ) -> Result<Option<T>, StoreError>
    where
        Q: LimitDsl + RunQueryDsl<AnyConnection>,
        Limit<Q>: LoadQuery<'query, AnyConnection, R>,
    {
        self.run(|conn| query.first(conn).optional()?.map(read).transpose())
    }
}
