//! Describes the database: engine, version, and the server settings that affect the service.

use diesel::{
    dsl::sql,
    prelude::*,
    sql_types::{BigInt, Bool, Text},
};
use sealpost_domain::{Timestamp, ports::StoreError};

use crate::{
    connection::{AnyConnection, query_error::QueryError},
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
                let version = diesel::select(sql::<Text>("sqlite_version()"));
                let version: String = version.get_result(conn)?;
                Ok(DatabaseInfo { engine: format!("SQLite {version}"), server: None })
            }
        })
    }
}

fn info_of_postgres(conn: &mut AnyConnection) -> Result<DatabaseInfo, QueryError> {
    type Row = (String, i64, i64, i64, bool, i64, bool, bool);
    let facts = (
        sql::<Text>("current_setting('server_version')"),
        sql::<BigInt>("current_setting('server_version_num')::bigint"),
        sql::<BigInt>("(extract(epoch FROM clock_timestamp()) * 1000)::bigint"),
        sql::<BigInt>("current_setting('max_connections')::bigint"),
        sql::<Bool>(SESSION_DEFAULTS),
        sql::<BigInt>("(SELECT count(*) FROM pg_stat_replication)"),
        sql::<Bool>(
            "current_setting('synchronous_standby_names') <> '' \
             AND current_setting('synchronous_commit') IN ('on', 'remote_apply')",
        ),
        sql::<Bool>(
            "current_setting('fsync') = 'on' AND current_setting('full_page_writes') = 'on'",
        ),
    );
    let (
        name,
        version,
        now,
        connections_max,
        has_session_defaults,
        standbys,
        waits_for_standby,
        is_durable,
    ): Row = diesel::select(facts).get_result(conn)?;
    let server = ServerInfo {
        version,
        now: Timestamp::from_millis(now),
        connections_max,
        has_session_defaults,
        standbys,
        waits_for_standby,
        is_durable,
    };
    Ok(DatabaseInfo { engine: format!("PostgreSQL {name}"), server: Some(server) })
}

/// SQL condition: true if a new session of the role starts with the settings that the service needs. Behind a pooler,
/// the service relies on these defaults of the role. A timeout of 0 means no timeout, so the condition is then false.
const SESSION_DEFAULTS: &str = "NOT EXISTS (
    SELECT 1 FROM pg_settings WHERE
        name IN ('statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout') AND reset_val = '0'
        OR name IN ('enable_seqscan', 'enable_bitmapscan', 'enable_hashjoin', 'enable_mergejoin', 'jit') AND reset_val = 'on'
        OR name = 'synchronous_commit' AND reset_val NOT IN ('on', 'remote_apply'))";
