//! Reads the clock of the database server, which all nodes share.

use diesel::{dsl::sql, prelude::*, sql_types::BigInt};
use sealpost_domain::Timestamp;

use crate::connection::{AnyConnection, fault::Fault};

/// Returns the time of the database server's clock; `None` for SQLite, which has no server.
pub(crate) fn server_clock(conn: &mut AnyConnection) -> Result<Option<Timestamp>, Fault> {
    match conn {
        AnyConnection::Postgres(conn) => {
            let millis = sql::<BigInt>("(extract(epoch FROM clock_timestamp()) * 1000)::bigint");
            Ok(Some(Timestamp::from_millis(diesel::select(millis).get_result(conn)?)))
        }
        AnyConnection::Sqlite(_) => Ok(None),
    }
}
