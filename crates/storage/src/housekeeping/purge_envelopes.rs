//! Retention of envelopes.

use diesel::{
    PgConnection, SqliteConnection,
    prelude::*,
    sql_types::{BigInt, Text},
};

use crate::{
    connection::{AnyConnection, fault::Fault},
    query::statement::Statement,
    schema::{deliveries as d, envelopes as e},
};

/// Deletes up to `limit` envelopes below the id `below`, the oldest first, with their deliveries. Returns the number of
/// envelopes.
pub(crate) fn purge_envelopes(
    conn: &mut AnyConnection,
    below: &str,
    limit: i64,
) -> Result<usize, Fault> {
    match conn {
        AnyConnection::Postgres(conn) => purge_postgres(conn, below, limit),
        AnyConnection::Sqlite(conn) => purge_sqlite(conn, below, limit),
    }
}

/// Skips envelopes that a recipient is opening. Uses arrays, because the planner may run a join over whole tables.
fn purge_postgres(conn: &mut PgConnection, below: &str, limit: i64) -> Result<usize, Fault> {
    Ok(Statement::command(
        "WITH old AS MATERIALIZED (
             SELECT id FROM envelopes WHERE id < ? ORDER BY id LIMIT ? FOR UPDATE SKIP LOCKED
         ), undelivered AS (
             DELETE FROM deliveries WHERE envelope_id = ANY (ARRAY(SELECT id FROM old))
         )
         DELETE FROM envelopes WHERE id = ANY (ARRAY(SELECT id FROM old))",
    )
    .bind::<Text, _>(below)
    .bind::<BigInt, _>(limit)
    .execute(conn)?)
}

fn purge_sqlite(conn: &mut SqliteConnection, below: &str, limit: i64) -> Result<usize, Fault> {
    let id = old_envelopes.field(e::id);
    let old = old_envelopes.filter(id.lt(below)).order(id).limit(limit).select(id);
    diesel::delete(d::table.filter(d::event_id.eq_any(old))).execute(conn)?;
    Ok(diesel::delete(e::table.filter(e::id.eq_any(old))).execute(conn)?)
}

diesel::alias!(e as old_envelopes: OldEnvelopes);
