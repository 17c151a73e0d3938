//! Finds the session or slot with the oldest snapshot. The database keeps every row version that this snapshot may
//! read.

use std::time::Duration;

use diesel::{
    PgConnection, SqliteConnection,
    prelude::*,
    sql_query,
    sql_types::{BigInt, Nullable, Text},
};
use sealpost_domain::ports::{OldestSnapshot, StoreError};

use crate::{
    connection::{
        AnyConnection,
        checkpointer::{LOG_PAGES_LONG, LogState, checkpoint},
        fault::Fault,
        file_readers,
    },
    database::Database,
};

impl Database {
    /// Returns the oldest snapshot of another session, replica, prepared transaction or replication slot.
    ///
    /// On SQLite, returns a snapshot only if it keeps a long log from being copied to the database. The age is then the
    /// time for which this process could not copy the log.
    pub fn oldest_snapshot(&self) -> Result<Option<OldestSnapshot>, StoreError> {
        self.look_up(|conn| match conn {
            AnyConnection::Postgres(conn) => oldest_of_postgres(conn),
            AnyConnection::Sqlite(conn) => self.oldest_of_sqlite(conn),
        })
    }

    fn oldest_of_sqlite(
        &self,
        conn: &mut SqliteConnection,
    ) -> Result<Option<OldestSnapshot>, Fault> {
        let LogState { log, checkpointed } = checkpoint(conn, "NOOP")?;
        let Some(file) = self.file.as_deref().filter(|_| log - checkpointed > LOG_PAGES_LONG)
        else {
            return Ok(None);
        };
        let readers = file_readers::readers(file);
        let holder =
            if readers.is_empty() { "this process".to_owned() } else { readers.join(", ") };
        let age = self.checkpointer.as_ref().and_then(|checkpointer| checkpointer.held_for());
        Ok(Some(OldestSnapshot { holder, age, transactions: None }))
    }
}

#[derive(QueryableByName)]
struct HolderRow {
    #[diesel(sql_type = Text)]
    holder: String,
    #[diesel(sql_type = Nullable<BigInt>)]
    age_ms: Option<i64>,
    #[diesel(sql_type = BigInt)]
    transactions: i64,
}

fn oldest_of_postgres(conn: &mut PgConnection) -> Result<Option<OldestSnapshot>, Fault> {
    let row = sql_query(HOLDERS).get_result::<HolderRow>(conn).optional()?;
    Ok(row.map(|row| OldestSnapshot {
        holder: row.holder,
        age: row.age_ms.map(|millis| Duration::from_millis(u64::try_from(millis).unwrap_or(0))),
        transactions: Some(u64::try_from(row.transactions).unwrap_or(0)),
    }))
}

/// Selects the holder of the oldest snapshot. Excludes autovacuum workers, because their snapshots keep no row
/// versions. The start of other users' sessions is NULL unless the role is a member of `pg_read_all_stats`.
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
            AND backend_type <> 'autovacuum worker'
        UNION ALL
        SELECT age(transaction)::BIGINT, prepared, format('the prepared transaction %s of %s', gid, owner)
        FROM pg_prepared_xacts WHERE database = current_database()
        UNION ALL
        SELECT age(xmin)::BIGINT, NULL, format('the replication slot %s', slot_name)
        FROM pg_replication_slots WHERE xmin IS NOT NULL
    ) AS holders
    ORDER BY transactions DESC, since LIMIT 1";
