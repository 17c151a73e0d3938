//! Checks two conditions of a PostgreSQL database that the service cannot meet by itself: the database role has all
//! rights that it needs, and replicated tables have a replica identity. SQLite needs neither.

use std::{error::Error, fmt};

use diesel::{
    prelude::*,
    sql_query,
    sql_types::{Array, Bool, Text},
};
use sealpost_domain::ports::StoreError;

use crate::{
    connection::{AnyConnection, query_error::refused},
    database::Database,
    migrations::VersionError,
    query::statement::Statement,
};

/// The rights that the database role lacks to migrate the database, and to create and drop partitions. `Display` shows
/// the SQL statements that grant these rights.
#[derive(Debug, QueryableByName)]
pub struct MissingRights {
    #[diesel(sql_type = Text)]
    role: String,
    #[diesel(sql_type = Text)]
    schema: String,
    #[diesel(sql_type = Bool)]
    may_create: bool,
    /// Partitioned tables and partitions of other owners.
    #[diesel(sql_type = Array<Text>)]
    foreign_tables: Vec<String>,
}

impl Database {
    /// Returns the rights that the database role lacks. `None` if the role has all of them, and on SQLite.
    pub fn missing_rights(&self) -> Result<Option<MissingRights>, StoreError> {
        self.look_up(|conn| {
            let AnyConnection::Postgres(pg) = conn else { return Ok(None) };
            let rights: MissingRights = sql_query(RIGHTS).get_result(pg)?;
            let is_complete = rights.may_create && rights.foreign_tables.is_empty();
            Ok((!is_complete).then_some(rights))
        })
    }

    /// Replaces the error of a refused migration by an error that shows the statements for the missing rights. Returns
    /// `error` unchanged if the role lacks no rights, or if the error has another cause.
    pub(crate) fn with_missing_rights(&self, error: StoreError) -> StoreError {
        match &error {
            StoreError::Refused(cause) if !cause.is::<VersionError>() => {
                let rights = self.missing_rights().ok().flatten();
                rights.map_or(error, refused)
            }
            _ => error,
        }
    }

    /// Returns the tables without a replica identity: the columns by which logical replication identifies a row.
    /// PostgreSQL refuses updates and deletions in such a table if a publication includes the table. Returns an empty
    /// list if no publication of the database publishes updates or deletions.
    pub fn unidentified_tables(&self) -> Result<Vec<String>, StoreError> {
        self.look_up(|conn| {
            let AnyConnection::Postgres(pg) = conn else { return Ok(Vec::new()) };
            Ok(Statement::<_, Text>::query(UNIDENTIFIED).load(pg)?)
        })
    }
}

impl fmt::Display for MissingRights {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { role, schema, may_create, foreign_tables } = self;
        let grant = (!may_create).then(|| format!("GRANT CREATE ON SCHEMA {schema} TO {role}"));
        let owners =
            foreign_tables.iter().map(|table| format!("ALTER TABLE {table} OWNER TO {role}"));
        let statements: Vec<_> = grant.into_iter().chain(owners).collect();
        write!(
            f,
            "the role {role} lacks rights to migrate the database, and to add and drop partitions: run {}",
            statements.join("; ")
        )
    }
}

impl Error for MissingRights {}

/// The query of [`MissingRights`]. Only the owner of a table can attach and detach its partitions, and drop it.
const RIGHTS: &str = "/* schema_checks.rights */
    WITH parents AS (
        SELECT to_regclass(name)::oid AS id FROM unnest(ARRAY['attempts', 'envelopes']) AS name
    )
    SELECT quote_ident(current_user) AS role, quote_ident(current_schema()) AS schema,
        has_schema_privilege(current_schema()::text, 'CREATE') AS may_create,
        ARRAY(
            SELECT c.oid::regclass::text FROM pg_class AS c
            WHERE c.oid IN (
                SELECT id FROM parents
                UNION SELECT i.inhrelid FROM pg_inherits AS i JOIN parents ON i.inhparent = parents.id
            ) AND NOT pg_has_role(c.relowner, 'USAGE')
            ORDER BY c.oid
        ) AS foreign_tables";

/// The query of [`Database::unidentified_tables`]. Checks each partition, because a partition has its own replica
/// identity.
const UNIDENTIFIED: &str = "/* schema_checks.unidentified */
    SELECT c.oid::regclass::text FROM pg_class AS c
    WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind = 'r' AND c.relpersistence = 'p'
        AND EXISTS (SELECT FROM pg_publication WHERE pubupdate OR pubdelete)
        AND NOT CASE c.relreplident
            WHEN 'f' THEN true
            WHEN 'd' THEN EXISTS (
                SELECT FROM pg_index AS i WHERE i.indrelid = c.oid AND i.indisprimary AND i.indisvalid)
            WHEN 'i' THEN EXISTS (
                SELECT FROM pg_index AS i WHERE i.indrelid = c.oid AND i.indisreplident)
            ELSE false
        END
    ORDER BY 1";
