//! Row locks, in one place: PostgreSQL locks rows, and SQLite has nothing to lock, since who writes is alone.

use diesel::{
    connection::SimpleConnection as _,
    pg::Pg,
    prelude::*,
    query_builder::{AstPass, Query, QueryFragment, QueryId},
    sqlite::Sqlite,
};

use crate::{connection::AnyConnection, fault::Fault};

/// How rows are locked until the transaction ends.
#[derive(Debug, Clone, Copy)]
pub(crate) enum RowLock {
    /// Nobody else locks the row so, or changes it; new rows may still refer to it.
    Alone,
    /// The same for the row of `api_keys` alone, but others may hold it so too.
    SharedKeys,
}

/// Makes others who ask for this lock wait until the transaction ends: for where there may be no row to lock yet, or none
/// that may be locked. On SQLite the transaction is the only one that writes.
pub(crate) fn advisory_lock(conn: &mut AnyConnection, number: i64) -> Result<(), Fault> {
    match conn {
        AnyConnection::Postgres(pg) => {
            pg.batch_execute(&format!("SELECT pg_advisory_xact_lock({number})"))?;
        }
        AnyConnection::Sqlite(_) => {}
    }
    Ok(())
}

/// A query whose rows are locked in the order in which they come.
#[derive(Debug)]
pub(crate) struct Locked<Q> {
    query: Q,
    lock: RowLock,
}

impl<Q> Locked<Q> {
    pub(crate) fn new(query: Q, lock: RowLock) -> Self {
        Self { query, lock }
    }
}

impl<Q: QueryFragment<Pg>> QueryFragment<Pg> for Locked<Q> {
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, Pg>) -> QueryResult<()> {
        self.query.walk_ast(out.reborrow())?;
        out.push_sql(match self.lock {
            RowLock::Alone => " FOR NO KEY UPDATE",
            RowLock::SharedKeys => " FOR SHARE OF api_keys",
        });
        Ok(())
    }
}

impl<Q: QueryFragment<Sqlite>> QueryFragment<Sqlite> for Locked<Q> {
    fn walk_ast<'b>(&'b self, out: AstPass<'_, 'b, Sqlite>) -> QueryResult<()> {
        self.query.walk_ast(out)
    }
}

/// Kept prepared by its text, which the lock is part of.
impl<Q> QueryId for Locked<Q> {
    type QueryId = ();
    const HAS_STATIC_QUERY_ID: bool = false;
}

impl<Q: Query> Query for Locked<Q> {
    type SqlType = Q::SqlType;
}

impl<Q, Conn> RunQueryDsl<Conn> for Locked<Q> {}
