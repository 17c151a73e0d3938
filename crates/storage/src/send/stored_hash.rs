//! Whether the database stores the hash of new envelopes.
//!
//! The hash is the SHA-256 of the sealed bytes, so a reader can compute it. Version 0.1.0 reads only envelopes with a
//! stored hash. Therefore new envelopes omit the hash only if the column `envelopes.hash` accepts NULL: in a new
//! PostgreSQL database, and after [`make_optional`]. SQLite always stores the hash, because an envelope takes as many
//! pages without it.

use std::{sync::OnceLock, time::Duration};

use diesel::{
    connection::SimpleConnection as _, dsl::sql, prelude::*, result::Error, sql_types::Bool,
};

use crate::connection::{AnyConnection, fault::Fault};

/// Whether new envelopes omit the hash. Each process reads this once from the schema.
#[derive(Debug, Default)]
pub(crate) struct StoredHash {
    is_omitted: OnceLock<bool>,
}

impl StoredHash {
    pub(crate) fn is_omitted(&self, conn: &mut AnyConnection) -> Result<bool, Fault> {
        if let Some(is_omitted) = self.is_omitted.get() {
            return Ok(*is_omitted);
        }
        let is_omitted = is_optional(conn)?;
        Ok(*self.is_omitted.get_or_init(|| is_omitted))
    }
}

/// Lets the column `envelopes.hash` accept NULL. The migration that prepared this is no longer additive then, so that
/// servers of version 0.1.0 do not start with the database. Returns `false` if the column accepted NULL before, or on SQLite.
pub(crate) fn make_optional(conn: &mut AnyConnection) -> Result<bool, Fault> {
    let was_optional = is_optional(conn)?;
    match conn {
        AnyConnection::Postgres(pg) if !was_optional => {
            pg.batch_execute(&format!(
                "SET LOCAL lock_timeout = {};
                 ALTER TABLE envelopes ALTER COLUMN hash DROP NOT NULL;
                 DELETE FROM additive_migrations WHERE version = '0036'",
                LOCK_TIMEOUT.as_millis()
            ))
            .map_err(explain_lock)?;
            Ok(true)
        }
        AnyConnection::Postgres(_) | AnyConnection::Sqlite(_) => Ok(false),
    }
}

fn explain_lock(error: Error) -> Fault {
    match &error {
        Error::DatabaseError(_, info) if info.message().contains("lock timeout") => {
            Fault::Refused(TABLE_IN_USE.into())
        }
        _ => error.into(),
    }
}

/// Returns true if [`make_optional`] would change the database.
pub(crate) fn can_be_made_optional(conn: &mut AnyConnection) -> Result<bool, Fault> {
    Ok(matches!(conn, AnyConnection::Postgres(_)) && !is_optional(conn)?)
}

fn is_optional(conn: &mut AnyConnection) -> Result<bool, Fault> {
    match conn {
        AnyConnection::Sqlite(_) => Ok(false),
        AnyConnection::Postgres(pg) => Ok(diesel::select(sql::<Bool>(IS_OPTIONAL)).get_result(pg)?),
    }
}

const TABLE_IN_USE: &str = "another transaction, such as a dump, uses the table envelopes: repeat the command when it \
    has ended";

/// Maximum wait for the lock on the table. Sends wait as long.
const LOCK_TIMEOUT: Duration = Duration::from_secs(2);

const IS_OPTIONAL: &str = "NOT (SELECT attnotnull FROM pg_attribute \
    WHERE attrelid = 'envelopes'::regclass AND attname = 'hash')";
