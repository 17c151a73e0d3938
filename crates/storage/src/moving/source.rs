//! Reads the embedded database that is moved, without writing to this database.

use std::{
    path::{Path, PathBuf},
    sync::mpsc::SyncSender,
};

use diesel::{
    Connection as _, SqliteConnection,
    connection::{DefaultLoadingMode, SimpleConnection as _},
    prelude::*,
    sql_query,
};
use sealpost_domain::{Wrapped, ports::StoreError};

use super::{cells::SourceRow, checksum::TableSum, rows::RowPortion, tables::MovedTable};
use crate::{
    connection::{
        AnyConnection,
        connect::ConnectError,
        query_error::{QueryError, refused},
    },
    kek_rotation::kek_versions::{self, WrappedKek},
    migrations, owned_file,
};

/// An embedded database that is moved. Its connections are opened read-only, so that closing a connection does not
/// write the log into the file.
#[derive(Debug)]
pub struct MoveSource {
    path: PathBuf,
}

/// A portion of the rows of a table, on the way from the reader to the writer.
pub(super) struct Portion<'a> {
    pub(super) table: &'a MovedTable,
    pub(super) rows: RowPortion,
    pub(super) is_first: bool,
}

impl MoveSource {
    /// Opens the database. Fails if the database cannot be read, or lacks migrations of this version.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        let source = Self { path: owned_file::resolve_links(path) };
        let mut conn = AnyConnection::Sqlite(source.connect()?);
        let pending = migrations::pending(&mut conn)?;
        if pending.is_empty() {
            Ok(source)
        } else {
            Err(refused(migrations::VersionError::Behind(pending.join(", "))))
        }
    }

    /// Returns the version and the mark of each key-encryption key that is not retired. A mark is a known text that is
    /// encrypted under one version, and shows whether a key file matches the database.
    pub fn kek_marks(&self) -> Result<Vec<(u32, Wrapped)>, StoreError> {
        let mut conn = AnyConnection::Sqlite(self.connect()?);
        Ok(kek_versions::active_marks(&mut conn)?)
    }

    /// Returns the key-encryption keys that a key provider has wrapped (encrypted).
    pub fn wrapped_keks(&self) -> Result<Vec<WrappedKek>, StoreError> {
        let mut conn = AnyConnection::Sqlite(self.connect()?);
        Ok(kek_versions::wrapped_keks(&mut conn)?)
    }

    pub(super) fn connect(&self) -> Result<SqliteConnection, QueryError> {
        let unusable = |fault: ConnectError| QueryError::Refused(fault.into());
        let path = self.path.to_str().ok_or(ConnectError::Path).map_err(unusable)?;
        // SQLite reads these three characters as parts of the URI.
        let path = path.replace('%', "%25").replace('?', "%3f").replace('#', "%23");
        let conn = SqliteConnection::establish(&format!("file:{path}?mode=ro"));
        let mut conn = conn.map_err(|error| unusable(error.into()))?;
        conn.batch_execute("PRAGMA busy_timeout = 5000; PRAGMA cache_size = -65536")?;
        Ok(conn)
    }

    /// Reads all rows of the tables in one snapshot, and sends them in portions. Returns the number and the checksum of
    /// the rows of each table. If the receiver is gone, sends no further rows, but returns no error.
    pub(super) fn read<'a>(
        &self,
        tables: &'a [MovedTable],
        send: &SyncSender<Portion<'a>>,
    ) -> Result<Vec<TableSum>, QueryError> {
        let mut conn = self.connect()?;
        conn.batch_execute("BEGIN")?;
        tables.iter().map(|table| read_table(&mut conn, table, send)).collect()
    }
}

fn read_table<'a>(
    conn: &mut SqliteConnection,
    table: &'a MovedTable,
    send: &SyncSender<Portion<'a>>,
) -> Result<TableSum, QueryError> {
    let MovedTable { name, .. } = table;
    // A trigger of the target accepts entries of the audit trail only in the order of their numbers.
    let order = if name == "audit_entries" { " ORDER BY number" } else { "" };
    let query = sql_query(format!(
        "/* moving.read_source */ SELECT {} FROM \"{name}\"{order}",
        table.column_list()
    ));
    let (mut sum, mut rows, mut is_first) = (TableSum::default(), RowPortion::new(table), true);
    for row in query.load_iter::<SourceRow, DefaultLoadingMode>(conn)? {
        let row = row?;
        sum.add(row.hash());
        rows.push(table, row)?;
        if rows.is_full() {
            let full = std::mem::replace(&mut rows, RowPortion::new(table));
            if send.send(Portion { table, rows: full, is_first }).is_err() {
                return Ok(sum);
            }
            is_first = false;
        }
    }
    // Sends the last portion even if the table has no rows, because the first portion also clears the table in the
    // target. Ignores a missing receiver, because the move has then failed already.
    drop(send.send(Portion { table, rows, is_first }));
    Ok(sum)
}
