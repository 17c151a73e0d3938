//! Moves the data of an embedded database into an empty PostgreSQL database.
//!
//! One transaction of PostgreSQL creates the tables, copies all rows, and reads them back. The transaction commits only
//! if the number and the checksum of the rows of each table are those of the source. A move that fails or is killed
//! therefore leaves the target as it was. The source is opened read-only, and read in one snapshot.

mod cells;
mod checksum;
mod error;
mod rows;
mod source;
pub(crate) mod tables;
mod target;

use std::{sync::mpsc, thread};

use diesel::PgConnection;
use sealpost_domain::ports::{Durability, StoreError};

pub use self::source::MoveSource;
use self::{
    checksum::TableSum,
    error::MoveError,
    source::Portion,
    tables::{MovedTable, moved_tables},
};
use crate::{
    connection::{AnyConnection, query_error::QueryError},
    database::Database,
    migrations,
};

/// A table that was moved, and its number of rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MovedRows {
    /// Name of the table.
    pub table: String,
    /// Number of rows, the same in source and target.
    pub rows: u64,
}

impl Database {
    /// Moves all data of `source` into this PostgreSQL database, which must be empty. Calls `progress` with the name of
    /// a table and the number of its rows that are copied so far. Returns the moved tables.
    ///
    /// After an error, the database is as empty as before, except if the commit was not confirmed
    /// ([`StoreError::InDoubt`]): then the database may contain all data.
    pub fn receive(
        &self,
        source: &MoveSource,
        progress: &dyn Fn(&str, u64),
    ) -> Result<Vec<MovedRows>, StoreError> {
        let begin = || Ok(self.begin(Durability::Durable)?.without_deadline());
        let moved = Self::write_in(begin, |tx| tx.run(|conn| receive(conn, source, progress)));
        moved.map_err(|error| self.with_missing_rights(error))
    }
}

fn receive(
    conn: &mut AnyConnection,
    source: &MoveSource,
    progress: &dyn Fn(&str, u64),
) -> Result<Vec<MovedRows>, QueryError> {
    target::require_empty(conn)?;
    migrations::apply(conn, &|_name| {})?;
    let AnyConnection::Postgres(pg) = conn else {
        return Err(QueryError::Refused(MoveError::NotPostgres.into()));
    };
    target::end_timeouts(pg)?;
    let tables = moved_tables(&mut source.connect()?, pg)?;
    let copied = copy(pg, source, &tables, progress)?;
    let verify = |(table, sum)| verify(pg, table, sum, progress);
    let moved = tables.iter().zip(copied).map(verify).collect::<Result<_, _>>()?;
    target::continue_numbers(pg, &mut source.connect()?)?;
    target::analyze(pg, &tables)?;
    Ok(moved)
}

/// Copies all rows. A second thread reads the source, while this thread writes. Returns the number and the checksum of
/// the rows of each table, as read from the source.
fn copy(
    pg: &mut PgConnection,
    source: &MoveSource,
    tables: &[MovedTable],
    progress: &dyn Fn(&str, u64),
) -> Result<Vec<TableSum>, QueryError> {
    thread::scope(|scope| {
        let (send, portions) = mpsc::sync_channel::<Portion<'_>>(PORTIONS_READ_AHEAD);
        let reader = scope.spawn(move || source.read(tables, &send));
        let written = write(pg, portions, progress);
        let read = reader.join().map_err(|_panic| QueryError::Refused(MoveError::Panicked.into()));
        written.and_then(|()| read?)
    })
}

/// Writes the rows of all tables, one table after the other. The rows arrive in portions of one table each. Before the
/// first portion of a table, deletes the rows that the migrations or triggers of the target have inserted there.
fn write(
    pg: &mut PgConnection,
    portions: mpsc::Receiver<Portion<'_>>,
    progress: &dyn Fn(&str, u64),
) -> Result<(), QueryError> {
    let mut written = 0;
    for Portion { table, rows, is_first } in portions {
        if is_first {
            target::clear(pg, table)?;
            written = 0;
        }
        written += rows.len();
        target::insert(pg, table, rows)?;
        progress(&table.name, written);
    }
    Ok(())
}

/// Reads a table of the target back. Fails with [`MoveError::Differs`] if the number or the checksum of the rows
/// differs from `expected`, which comes from the source.
fn verify(
    pg: &mut PgConnection,
    table: &MovedTable,
    expected: TableSum,
    progress: &dyn Fn(&str, u64),
) -> Result<MovedRows, QueryError> {
    progress(&format!("{} (check)", table.name), expected.rows);
    let found = target::sum(pg, table)?;
    if found != expected {
        let (expected, found) = (expected.rows, found.rows);
        let fault = MoveError::Differs { table: table.name.clone(), expected, found };
        return Err(QueryError::Refused(fault.into()));
    }
    Ok(MovedRows { table: table.name.clone(), rows: found.rows })
}

/// Number of portions of rows that the reader may be ahead of the writer.
const PORTIONS_READ_AHEAD: usize = 2;
