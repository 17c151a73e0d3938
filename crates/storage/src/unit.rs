//! The unit of work: a connection from the pool in a transaction. The only place that opens, commits and rolls back.

use std::{collections::HashMap, sync::Arc};

use diesel::connection::{AnsiTransactionManager, TransactionManager};
use sealpost_domain::{
    ApiKeyId, Handle,
    ports::{Durability, StoreError, Tx},
};

use crate::{
    connection::{AnyConnection, on_backend},
    facts::Memory,
    fault::{Fault, refused, unavailable},
    gate::Pass,
    pool::{Link, Pool, Pooled},
};

/// What every port that writes runs on. Dropped uncommitted, everything is taken back.
pub(crate) struct Unit {
    link: Pooled,
    /// A statement failed: nothing can be committed any more.
    failed: bool,
    /// Whom handles led to when this transaction looked: what its caller decides on.
    pub(crate) handles_seen: HashMap<Handle, Option<ApiKeyId>>,
    /// What earlier batches have read.
    pub(crate) memory: Arc<Memory>,
    /// Given up last, when the connection is back in its pool.
    _turn: Option<Pass>,
}

impl Unit {
    /// Opens a transaction that may write. A connection that turns out to be dead is replaced: nothing was done on it.
    pub(crate) fn begin(
        pool: &Pool,
        turn: Option<Pass>,
        durability: Durability,
        memory: Arc<Memory>,
    ) -> Result<Self, StoreError> {
        let mut link = pool.get().map_err(unavailable)?;
        if let Err(fault) = open(&mut link, durability) {
            if !link.dead {
                return Err(fault.into());
            }
            // Back in the pool, where it raises the alarm, before another is asked for.
            drop(link);
            link = pool.get().map_err(unavailable)?;
            open(&mut link, durability)?;
        }
        Ok(Self { link, failed: false, handles_seen: HashMap::new(), memory, _turn: turn })
    }

    /// Runs statements, and says what their failure means.
    pub(crate) fn run<T>(
        &mut self,
        work: impl FnOnce(&mut AnyConnection) -> Result<T, Fault>,
    ) -> Result<T, StoreError> {
        self.link.run(work).map_err(|fault| {
            self.failed = true;
            fault.into()
        })
    }

    /// Makes it so.
    pub(crate) fn commit(mut self) -> Result<(), StoreError> {
        if self.failed {
            // PostgreSQL would answer as if all were well, and roll back.
            return Err(refused("a statement of this transaction failed"));
        }
        let done = self
            .link
            .run(|conn| Ok(on_backend!(conn, c => AnsiTransactionManager::commit_transaction(c))?));
        done.map_err(Fault::of_commit)
    }
}

impl Tx for Unit {
    fn commit(self: Box<Self>) -> Result<(), StoreError> {
        Unit::commit(*self)
    }
}

impl Drop for Unit {
    fn drop(&mut self) {
        if self.link.dead {
            return;
        }
        let done = on_backend!(&mut self.link.connection, c => {
            match AnsiTransactionManager::transaction_manager_status_mut(c).transaction_depth() {
                Ok(Some(_)) => AnsiTransactionManager::rollback_transaction(c),
                Ok(None) | Err(_) => Ok(()),
            }
        });
        // What cannot be rolled back ends with its connection, which the pool closes.
        self.link.dead |= done.is_err();
    }
}

/// Where the databases differ: SQLite's writer takes its lock here, because a deferred transaction that starts to
/// write fails at once when another writer is ahead; and what waits for the disk it sets before the transaction. PostgreSQL
/// is told again that a statement sees what was committed before it: a pooler in between may have told it to another
/// connection.
fn open(link: &mut Link, durability: Durability) -> Result<(), Fault> {
    let relaxed = durability == Durability::Relaxed;
    let sql = match (&link.connection, relaxed, link.relaxed) {
        (AnyConnection::Postgres(_), false, _) => "BEGIN ISOLATION LEVEL READ COMMITTED",
        (AnyConnection::Postgres(_), true, _) => {
            "BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL synchronous_commit = off"
        }
        (AnyConnection::Sqlite(_), true, false) => "PRAGMA synchronous = NORMAL; BEGIN IMMEDIATE",
        (AnyConnection::Sqlite(_), false, true) => "PRAGMA synchronous = FULL; BEGIN IMMEDIATE",
        (AnyConnection::Sqlite(_), _, _) => "BEGIN IMMEDIATE",
    };
    // True as soon as it may be so: then the next durable transaction sets it back.
    link.relaxed |= relaxed;
    link.run(|conn| {
        Ok(on_backend!(conn, c => AnsiTransactionManager::begin_transaction_sql(c, sql))?)
    })?;
    link.relaxed = relaxed;
    Ok(())
}
