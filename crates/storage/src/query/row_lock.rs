//! Row locks and advisory locks of PostgreSQL. SQLite needs no locks, because only one transaction writes at a time.

use diesel::{
    connection::SimpleConnection as _,
    pg::Pg,
    prelude::*,
    query_builder::{AstPass, Query, QueryFragment, QueryId},
    sqlite::Sqlite,
};

use crate::connection::{AnyConnection, query_error::QueryError};

/// The kind of a row lock. The lock lasts until the transaction ends.
#[derive(Debug, Clone, Copy)]
pub(crate) enum RowLock {
    /// Excludes other locks and changes of the row, but not new rows that reference the row: `FOR NO KEY UPDATE`.
    Alone,
    /// Shared with other `FOR SHARE` locks; excludes every change of the row: `FOR SHARE`.
    Shared,
    /// Like [`RowLock::Shared`], but leaves out locked rows, so that the query never waits: `FOR SHARE SKIP LOCKED`.
    SharedIfFree,
}

/// Takes an advisory lock (a lock on a number) until the transaction ends. Use this lock if there may be no row to lock
/// yet, or if the role lacks the right to lock rows. Does nothing on SQLite.
pub(crate) fn advisory_lock(conn: &mut AnyConnection, number: i64) -> Result<(), QueryError> {
    match conn {
        AnyConnection::Postgres(pg) => {
            pg.batch_execute(&format!(
                "/* row_lock.advisory_lock */ SELECT pg_advisory_xact_lock({number})"
            ))?;
        }
        AnyConnection::Sqlite(_) => {}
    }
    Ok(())
}

/// A query that locks the rows of its result, in the order of the result.
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
            RowLock::Shared => " FOR SHARE",
            RowLock::SharedIfFree => " FOR SHARE SKIP LOCKED",
        });
        Ok(())
    }
}

impl<Q: QueryFragment<Sqlite>> QueryFragment<Sqlite> for Locked<Q> {
    fn walk_ast<'b>(&'b self, out: AstPass<'_, 'b, Sqlite>) -> QueryResult<()> {
        self.query.walk_ast(out)
    }
}

/// Makes diesel cache the prepared query by its text and not by its type, because two queries of this type can have
/// different locks.
impl<Q> QueryId for Locked<Q> {
    type QueryId = ();
    const HAS_STATIC_QUERY_ID: bool = false;
}

impl<Q: Query> Query for Locked<Q> {
    type SqlType = Q::SqlType;
}

impl<Q, Conn> RunQueryDsl<Conn> for Locked<Q> {}
