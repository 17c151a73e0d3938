//! Statements that check and end commits: a probe write without effect, the confirmation of a slow commit, and the end
//! of a hung commit.

use std::time::Duration;

use diesel::{
    connection::SimpleConnection,
    dsl::sql,
    prelude::*,
    sql_types::{Bool, Integer},
};

use crate::connection::{AnyConnection, query_error::QueryError};

/// Inserts and deletes a row in the current transaction, so that the commit must reach the disk and the standbys.
pub(crate) fn write(conn: &mut AnyConnection) -> Result<(), QueryError> {
    Ok(conn.batch_execute(WRITE)?)
}

/// Confirms the preceding commit of this connection by a second commit, if the server waits for standbys.
///
/// PostgreSQL can cancel the wait of a COMMIT for a standby. The COMMIT then succeeds with a warning, but the driver
/// drops the warning. A standby receives commits in order, so a confirmed later commit also confirms the earlier one.
pub(crate) fn confirm(conn: &mut AnyConnection) -> Result<(), QueryError> {
    let AnyConnection::Postgres(_) = conn else { return Ok(()) };
    let waits = sql::<Bool>("current_setting('synchronous_standby_names') <> ''");
    if diesel::select(waits).get_result(conn)? {
        conn.batch_execute("BEGIN")?;
        write(conn)?;
        conn.batch_execute("COMMIT")?;
    }
    Ok(())
}

/// Returns the id of the server process of this connection; `None` for SQLite.
pub(crate) fn server_process(
    conn: &mut AnyConnection,
) -> Result<Option<i32>, diesel::result::Error> {
    match conn {
        AnyConnection::Postgres(pg) => {
            diesel::select(sql::<Integer>("pg_backend_pid()")).get_result(pg).map(Some)
        }
        AnyConnection::Sqlite(_) => Ok(None),
    }
}

/// Ends a server process that is still executing a COMMIT. PostgreSQL permits this only to the role of the process.
///
/// Behind a pooler, the id may belong to the process of another client. The query therefore matches only a process that
/// executes a COMMIT.
pub(crate) fn end_commit(conn: &mut AnyConnection, process: i32) -> Result<(), QueryError> {
    let sql = format!(
        "/* write_probe.end_commit */ SELECT pg_terminate_backend(pid) FROM pg_stat_activity
         WHERE pid = {process} AND state = 'active' AND query = 'COMMIT'"
    );
    Ok(conn.batch_execute(&sql)?)
}

const WRITE: &str = "/* write_probe.insert */ INSERT INTO write_probes (id) VALUES (0);
    /* write_probe.delete */ DELETE FROM write_probes";

/// Minimum duration of a commit that [`confirm`] must confirm. During such a slow commit, the server may have cancelled
/// the wait for a standby.
pub(crate) const CONFIRMED_FROM: Duration = Duration::from_secs(1);
