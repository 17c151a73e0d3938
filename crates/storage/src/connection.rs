//! Connections to PostgreSQL and SQLite: URLs, pools, transactions, commits with a deadline, and errors of the drivers.

pub(crate) mod access_hook;
pub(crate) mod checkpointer;
pub(crate) mod connect;
pub(crate) mod durable_commits;
pub(crate) mod encryption;
pub(crate) mod gradual_flush;
pub(crate) mod journaled_acts;
pub(crate) mod oldest_snapshot;
pub(crate) mod opened_files;
pub(crate) mod pool;
pub(crate) mod query_error;
pub(crate) mod schema_checks;
pub(crate) mod server_info;
pub(crate) mod transaction;
pub(crate) mod url;
pub(crate) mod work;
pub(crate) mod write_checks;
pub(crate) mod write_gate;
pub(crate) mod write_probe;

use diesel::{PgConnection, SqliteConnection, dsl::sql, prelude::*, sql_types::BigInt};
use sealpost_domain::Timestamp;

use self::query_error::QueryError;

/// A connection to either database.
///
/// Open connections with [`connect`](crate::connection::connect::connect). Do not use `establish`, which diesel
/// derives: if a PostgreSQL server is unreachable, `establish` then opens an SQLite file with the URL as its name.
#[derive(diesel::MultiConnection)]
pub(crate) enum AnyConnection {
    Postgres(PgConnection),
    Sqlite(SqliteConnection),
}

/// Returns the time of the database server's clock; `None` for SQLite, which has no server.
pub(crate) fn server_clock(conn: &mut AnyConnection) -> Result<Option<Timestamp>, QueryError> {
    match conn {
        AnyConnection::Postgres(conn) => {
            let millis = sql::<BigInt>("(extract(epoch FROM clock_timestamp()) * 1000)::bigint");
            Ok(Some(Timestamp::from_millis(diesel::select(millis).get_result(conn)?)))
        }
        AnyConnection::Sqlite(_) => Ok(None),
    }
}

/// Evaluates an expression with the concrete connection in an [`AnyConnection`]: PostgreSQL or SQLite.
///
/// Needed for queries that `AnyConnection` itself cannot run: conflict clauses, batches and locks.
macro_rules! on_backend {
    ($conn:expr, $c:ident => $body:expr) => {
        match $conn {
            $crate::connection::AnyConnection::Postgres($c) => $body,
            $crate::connection::AnyConnection::Sqlite($c) => $body,
        }
    };
}
pub(crate) use on_backend;
