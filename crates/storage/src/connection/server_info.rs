//! Describes the database: engine, version, and the server settings that affect the service.

use diesel::{
    dsl::sql,
    prelude::*,
    sql_types::{BigInt, Bool, Text},
};
use sealpost_domain::{Timestamp, ports::StoreError};

use crate::{
    connection::{AnyConnection, fault::Fault},
    database::Database,
};

/// The engine of a database and, for PostgreSQL, the settings of the server.
#[derive(Debug, Clone)]
pub struct DatabaseInfo {
    /// Name and version of the database engine, such as `PostgreSQL 15.4`.
    pub engine: String,
    /// The settings of the server; `None` for SQLite.
    pub server: Option<ServerInfo>,
}

/// Version, clock and settings of a PostgreSQL server.
#[derive(Debug, Clone, Copy)]
pub struct ServerInfo {
    /// Version as a number: 150004 is 15.4.
    pub version: i64,
    /// Time of the server's clock at the query.
    pub now: Timestamp,
    /// Maximum number of connections that the server accepts.
    pub connections_max: i64,
    /// True if the defaults of the role include the timeouts and the planner settings of the service's sessions.
    pub has_session_defaults: bool,
    /// Number of standby servers that are connected to the server.
    pub standbys: i64,
    /// True if a durable commit waits until a standby server has the commit on disk. Otherwise a failover can lose
    /// committed data.
    pub waits_for_standby: bool,
    /// True if the settings `fsync` and `full_page_writes` are on. Otherwise a crash of the server can lose or damage
    /// committed data.
    pub is_durable: bool,
}

impl Database {
    /// Queries name, version and settings of the database.
    pub fn info(&self) -> Result<DatabaseInfo, StoreError> {
        self.look_up(|conn| match conn {
            AnyConnection::Postgres(_) => info_of_postgres(conn),
            AnyConnection::Sqlite(_) => {
                let version = text(conn, "sqlite_version()")?;
                Ok(DatabaseInfo { engine: format!("SQLite {version}"), server: None })
            }
        })
    }
}

fn info_of_postgres(conn: &mut AnyConnection) -> Result<DatabaseInfo, Fault> {
    let engine = format!("PostgreSQL {}", text(conn, "current_setting('server_version')")?);
    let version = number(conn, "current_setting('server_version_num')::bigint")?;
    let now = number(conn, "(extract(epoch FROM clock_timestamp()) * 1000)::bigint")?;
    let connections_max = number(conn, "current_setting('max_connections')::bigint")?;
    let standbys = number(conn, "(SELECT count(*) FROM pg_stat_replication)")?;
    let waits_for_standby = is_true(
        conn,
        "current_setting('synchronous_standby_names') <> '' \
         AND current_setting('synchronous_commit') IN ('on', 'remote_apply')",
    )?;
    let has_session_defaults = is_true(conn, SESSION_DEFAULTS)?;
    let is_durable = is_true(
        conn,
        "current_setting('fsync') = 'on' AND current_setting('full_page_writes') = 'on'",
    )?;
    let now = Timestamp::from_millis(now);
    Ok(DatabaseInfo {
        engine,
        server: Some(ServerInfo {
            version,
            now,
            connections_max,
            has_session_defaults,
            standbys,
            waits_for_standby,
            is_durable,
        }),
    })
}

fn text(conn: &mut AnyConnection, expression: &str) -> Result<String, Fault> {
    Ok(diesel::select(sql::<Text>(expression)).get_result(conn)?)
}

fn is_true(conn: &mut AnyConnection, expression: &str) -> Result<bool, Fault> {
    Ok(diesel::select(sql::<Bool>(expression)).get_result(conn)?)
}

fn number(conn: &mut AnyConnection, expression: &str) -> Result<i64, Fault> {
    Ok(diesel::select(sql::<BigInt>(expression)).get_result(conn)?)
}

/// SQL condition: true if a new session of the role starts with the settings that the service needs. Behind a pooler,
/// the service relies on these defaults of the role. A timeout of 0 means no timeout, so the condition is then false.
const SESSION_DEFAULTS: &str = "NOT EXISTS (
    SELECT 1 FROM pg_settings WHERE
        name IN ('statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout') AND reset_val = '0'
        OR name IN ('enable_seqscan', 'enable_bitmapscan', 'enable_hashjoin', 'enable_mergejoin', 'jit') AND reset_val = 'on'
        OR name = 'synchronous_commit' AND reset_val NOT IN ('on', 'remote_apply'))";
