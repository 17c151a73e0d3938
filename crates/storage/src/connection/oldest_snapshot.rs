//! Finds the session or replication slot with the oldest snapshot. The database keeps every row version that this
//! snapshot may read.

use std::{
    collections::BTreeSet, fs, os::linux::fs::MetadataExt as _, path::Path, process, time::Duration,
};

use diesel::{
    PgConnection, SqliteConnection,
    prelude::*,
    sql_types::{BigInt, Nullable, Text},
};
use sealpost_domain::ports::{OldestSnapshot, StoreError};

use crate::{
    connection::{
        AnyConnection,
        checkpointer::{LOG_PAGES_LONG, LogState, checkpoint},
        query_error::QueryError,
    },
    database::Database,
    query::statement::Statement,
};

impl Database {
    /// Returns the oldest snapshot of another session, replica, prepared transaction or replication slot.
    ///
    /// On SQLite, returns a snapshot only if it prevents the copying of a long write-ahead log into the database file.
    /// The age is then the time for which this process could not copy the log.
    pub fn oldest_snapshot(&self) -> Result<Option<OldestSnapshot>, StoreError> {
        self.look_up(|conn| match conn {
            AnyConnection::Postgres(conn) => oldest_of_postgres(conn),
            AnyConnection::Sqlite(conn) => self.oldest_of_sqlite(conn),
        })
    }

    fn oldest_of_sqlite(
        &self,
        conn: &mut SqliteConnection,
    ) -> Result<Option<OldestSnapshot>, QueryError> {
        let LogState { log, checkpointed } = checkpoint(conn, "NOOP")?;
        let Some(file) = self.file.as_deref().filter(|_| log - checkpointed > LOG_PAGES_LONG)
        else {
            return Ok(None);
        };
        let others = readers(file);
        let holder = if others.is_empty() { "this process".to_owned() } else { others.join(", ") };
        let age = self.checkpointer.as_ref().and_then(|checkpointer| checkpointer.held_for());
        Ok(Some(OldestSnapshot { holder, age, transactions: None }))
    }
}

fn oldest_of_postgres(conn: &mut PgConnection) -> Result<Option<OldestSnapshot>, QueryError> {
    let holders = Statement::<_, (Text, Nullable<BigInt>, BigInt)>::query(HOLDERS);
    let row = holders.get_result::<(String, Option<i64>, i64)>(conn).optional()?;
    Ok(row.map(|(holder, age_ms, transactions)| OldestSnapshot {
        holder,
        age: age_ms.map(|millis| Duration::from_millis(u64::try_from(millis).unwrap_or(0))),
        transactions: Some(u64::try_from(transactions).unwrap_or(0)),
    }))
}

/// Returns the other processes that have a read transaction on this database, such as `process 4711 (sqlite3)`. Finds
/// them by their locks on the file `-shm`, in `/proc/locks`. Returns an empty list if the file `-shm` does not exist.
fn readers(database: &Path) -> Vec<String> {
    let shared_memory = format!("{}-shm", database.display());
    let Ok(inode) = fs::metadata(shared_memory).map(|file| file.st_ino()) else {
        return Vec::new();
    };
    let locks = fs::read_to_string("/proc/locks").unwrap_or_default();
    let pids: BTreeSet<u32> = locks.lines().filter_map(|line| reader(line, inode)).collect();
    pids.into_iter().filter(|pid| *pid != process::id()).map(named).collect()
}

/// Returns the id of the process that holds the lock in a line of `/proc/locks`. `None` unless the file has this inode,
/// and the lock includes a byte that SQLite locks for a read transaction. A line looks like this:
/// `5: POSIX  ADVISORY  READ 4711 fe:00:131 124 124`.
fn reader(line: &str, inode: u64) -> Option<u32> {
    let fields: Vec<_> = line.split_whitespace().collect();
    let [_, "POSIX", _, _, pid, file, from, to] = *fields else { return None };
    let is_file = file.rsplit(':').next()?.parse() == Ok(inode);
    let (from, to) = (from.parse::<u64>().ok()?, to.parse::<u64>().ok()?);
    let pid = pid.parse().ok()?;
    (is_file && from <= READ_MARKS_END && to >= READ_MARKS_START).then_some(pid)
}

fn named(pid: u32) -> String {
    let name = fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
    format!("process {pid} ({})", name.trim())
}

/// Selects the holder of the oldest snapshot. Excludes processes without a user, such as autovacuum workers, because
/// their snapshots keep no row versions.
///
/// Only members of `pg_read_all_stats` can read `xact_start`, `state` and `backend_type` of other users' sessions.
/// Without these columns, the age of a session is unknown, and a replica is shown as a process.
const HOLDERS: &str = "/* oldest_snapshot.holders */
    SELECT holder, (extract(epoch FROM clock_timestamp() - since) * 1000)::BIGINT AS age_ms, transactions
    FROM (
        SELECT greatest(age(backend_xmin), age(backend_xid))::BIGINT AS transactions, xact_start AS since,
            CASE backend_type WHEN 'walsender' THEN
                format('the replica %s with hot_standby_feedback', application_name)
            ELSE
                format('process %s (user %s, application %s, %s)', pid, usename,
                    coalesce(nullif(application_name, ''), 'unknown'), coalesce(state, 'state unknown'))
            END AS holder
        FROM pg_stat_activity
        WHERE (backend_xmin IS NOT NULL OR backend_xid IS NOT NULL) AND pid <> pg_backend_pid()
            AND coalesce(datname, current_database()) = current_database()
            AND usesysid IS NOT NULL
        UNION ALL
        SELECT age(transaction)::BIGINT, prepared, format('the prepared transaction %s of %s', gid, owner)
        FROM pg_prepared_xacts WHERE database = current_database()
        UNION ALL
        SELECT age(xmin)::BIGINT, NULL, format('the replication slot %s', slot_name)
        FROM pg_replication_slots WHERE xmin IS NOT NULL
    ) AS holders
    ORDER BY transactions DESC, since LIMIT 1";

/// The bytes of the file `-shm` that readers lock (SQLite, walformat, 2.3.1).
const READ_MARKS_START: u64 = 123;
const READ_MARKS_END: u64 = 127;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn locks_on_read_marks_of_the_file_count() {
        let read = |line: &str| reader(line, 131);
        assert_eq!(read("5: POSIX  ADVISORY  READ 4711 fe:00:131 124 124"), Some(4711));
        assert_eq!(read("5: POSIX  ADVISORY  READ 4711 fe:00:131 128 128"), None, "another lock");
        assert_eq!(read("5: POSIX  ADVISORY  READ 4711 fe:00:132 124 124"), None, "another file");
        assert_eq!(read("5: FLOCK  ADVISORY  WRITE 4711 fe:00:131 0 EOF"), None);
        assert_eq!(read("5: -> POSIX ADVISORY WRITE 4711 fe:00:131 124 124"), None, "it waits");
    }
}
