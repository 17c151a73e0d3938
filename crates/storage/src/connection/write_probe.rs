//! A write without effect, which shows whether the database commits.

use std::time::Duration;

use diesel::{
    connection::SimpleConnection,
    dsl::sql,
    prelude::*,
    sql_types::{Bool, Integer},
};

use crate::connection::{AnyConnection, fault::Fault};

/// Writes and deletes a row of the current transaction. A commit must then reach the disk and the standbys.
pub(crate) fn write(conn: &mut AnyConnection) -> Result<(), Fault> {
    Ok(conn.batch_execute("INSERT INTO write_probes (id) VALUES (0); DELETE FROM write_probes")?)
}

/// Confirms the preceding commit of this connection by another one, if the server waits for standbys.
///
/// A COMMIT whose wait is cancelled succeeds with a warning, which the driver drops. The log reaches a standby in
/// order, so a later confirmed commit confirms the earlier one.
pub(crate) fn confirm(conn: &mut AnyConnection) -> Result<(), Fault> {
    let AnyConnection::Postgres(_) = conn else { return Ok(()) };
    let waits = sql::<Bool>("current_setting('synchronous_standby_names') <> ''");
    if diesel::select(waits).get_result(conn)? {
        conn.batch_execute("BEGIN")?;
        write(conn)?;
        conn.batch_execute("COMMIT")?;
    }
    Ok(())
}

/// Returns the number of the server process of this connection; `None` for SQLite.
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

/// Ends a server process that is still in a COMMIT. Only the role of the process may do this.
///
/// Behind a pooler the number may belong to another process. The condition excludes all processes but hung commits.
pub(crate) fn end_commit(conn: &mut AnyConnection, process: i32) -> Result<(), Fault> {
    let sql = format!(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
         WHERE pid = {process} AND state = 'active' AND query = 'COMMIT'"
    );
    Ok(conn.batch_execute(&sql)?)
}

/// Minimum duration of a commit that [`confirm`] must confirm. In a commit this slow, the server may have cancelled the
/// wait for a standby.
pub(crate) const CONFIRMED_FROM: Duration = Duration::from_secs(1);
