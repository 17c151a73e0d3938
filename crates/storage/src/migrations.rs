//! Finds the migrations that a database lacks, and applies them.

use std::collections::BTreeMap;

use diesel::{
    backend::Backend, connection::SimpleConnection, dsl::sql, migration::MigrationSource, pg::Pg,
    prelude::*, sql_types::Bool, sqlite::Sqlite,
};
use diesel_migrations::{EmbeddedMigrations, MigrationHarness, embed_migrations};
use sealpost_domain::ports::BoxedError;

use crate::{
    connection::{AnyConnection, query_error::QueryError},
    schema::{__diesel_schema_migrations as applied_migrations, additive_migrations},
};

pub(crate) const POSTGRES: EmbeddedMigrations = embed_migrations!("migrations/postgres");
pub(crate) const SQLITE: EmbeddedMigrations = embed_migrations!("migrations/sqlite");

/// The schema of the database does not match this binary: it is older or newer.
#[derive(Debug, thiserror::Error)]
pub(crate) enum VersionError {
    #[error("the database is older than this version: run `sealpost migrate`, which applies {0}")]
    Behind(String),
    #[error(
        "the database is newer than this version and has the unknown migrations {0}: run a newer sealpost"
    )]
    Newer(String),
}

/// Returns the names of the missing migrations in order. Refuses a database with migrations that this binary does not
/// know. Exception: additive migrations, with which old nodes can still run while other nodes are upgraded.
pub(crate) fn pending(conn: &mut AnyConnection) -> Result<Vec<String>, QueryError> {
    let mut known = known(conn)?;
    let applied = applied(conn)?.into_iter();
    let mut unknown: Vec<_> = applied.filter(|version| known.remove(version).is_none()).collect();
    if !unknown.is_empty() {
        let additive: Vec<String> =
            additive_migrations::table.select(additive_migrations::version).load(conn)?;
        unknown.retain(|version| !additive.contains(version));
    }
    if unknown.is_empty() {
        Ok(known.into_values().collect())
    } else {
        Err(QueryError::Refused(VersionError::Newer(unknown.join(", ")).into()))
    }
}

/// Applies all missing migrations, or none, in the transaction of the caller. If several nodes migrate at once, one
/// node applies all migrations; the others wait and then find none missing.
pub(crate) fn apply(
    conn: &mut AnyConnection,
    progress: &dyn Fn(&str),
) -> Result<Vec<String>, QueryError> {
    match conn {
        AnyConnection::Postgres(pg) => pg.batch_execute(&format!(
            "SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = 0;
             /* migrations.lock */ SELECT pg_advisory_xact_lock({LOCK})"
        ))?,
        // SQLite needs no lock, because this transaction is the only writer.
        AnyConnection::Sqlite(_) => {}
    }
    let pending = pending(conn)?;
    for name in &pending {
        progress(name);
        match conn {
            AnyConnection::Postgres(pg) => pg.run_next_migration(POSTGRES).map(drop),
            AnyConnection::Sqlite(lite) => lite.run_next_migration(SQLITE).map(drop),
        }
        .map_err(fault)?;
    }
    Ok(pending)
}

/// Returns the names of the migrations that this binary contains, by version.
fn known(conn: &AnyConnection) -> Result<BTreeMap<String, String>, QueryError> {
    match conn {
        AnyConnection::Postgres(_) => list::<Pg>(&POSTGRES),
        AnyConnection::Sqlite(_) => list::<Sqlite>(&SQLITE),
    }
}

fn list<DB: Backend>(source: &EmbeddedMigrations) -> Result<BTreeMap<String, String>, QueryError>
where
    EmbeddedMigrations: MigrationSource<DB>,
{
    let migrations = MigrationSource::<DB>::migrations(source).map_err(fault)?;
    let name = |migration: &dyn diesel::migration::Migration<DB>| {
        (migration.name().version().to_string(), migration.name().to_string())
    };
    Ok(migrations.iter().map(|migration| name(migration.as_ref())).collect())
}

fn applied(conn: &mut AnyConnection) -> Result<Vec<String>, QueryError> {
    if !has_table(conn, "__diesel_schema_migrations")? {
        return Ok(Vec::new());
    }
    let versions = applied_migrations::table.select(applied_migrations::version);
    Ok(versions.order(applied_migrations::version).load(conn)?)
}

/// Returns whether the database has a table of this name.
pub(crate) fn has_table(conn: &mut AnyConnection, name: &str) -> Result<bool, QueryError> {
    let exists = match conn {
        AnyConnection::Postgres(_) => format!("to_regclass('{name}') IS NOT NULL"),
        AnyConnection::Sqlite(_) => {
            format!("EXISTS (SELECT 1 FROM sqlite_master WHERE name = '{name}')")
        }
    };
    Ok(diesel::select(sql::<Bool>(&exists)).get_result(conn)?)
}

/// Converts an error of a migration. Returns the driver's error if the migration wraps one.
fn fault(error: BoxedError) -> QueryError {
    match error.downcast::<diesel::result::Error>() {
        Ok(error) => QueryError::Driver(*error),
        Err(other) => QueryError::Refused(other),
    }
}

/// Number of the advisory lock for migrations: `sealpost` in ASCII.
const LOCK: i64 = 0x7365_616c_706f_7374;
