//! Locks and updates usage rows on PostgreSQL. The usage row of an API key is also the lock of the key.
//!
//! Each batch of sends updates the rows of its senders, and an open snapshot of another session keeps all old versions
//! of a row. Every 16th update therefore moves the row to the next generation, a part of its primary key. A look-up
//! from the highest generation down reads at most 16 versions, no matter how many versions are kept.

use diesel::{PgConnection, prelude::*, sql_types::Text};

use crate::{
    connection::{AnyConnection, fault::Fault},
    query::statement::Statement,
};

/// Locks the usage rows of these API keys in the order of ids, like the batches of sends. Not needed on SQLite.
pub(crate) fn lock<S: Into<String>>(
    conn: &mut AnyConnection,
    keys: impl Iterator<Item = S>,
) -> Result<(), Fault> {
    match conn {
        AnyConnection::Postgres(conn) => lock_postgres(conn, keys),
        AnyConnection::Sqlite(_) => Ok(()),
    }
}

pub(crate) fn lock_postgres<S: Into<String>>(
    conn: &mut PgConnection,
    keys: impl Iterator<Item = S>,
) -> Result<(), Fault> {
    Statement::<_, Text>::query("/* usage_rows.lock_postgres */ SELECT lock_usage(?)")
        .bind_array::<Text, String>(keys.map(Into::into))
        .load::<String>(conn)?;
    Ok(())
}

/// Returns the text of a statement that updates usage rows. The transaction must have locked the rows before.
///
/// The statement has one array for each of `columns`; one of them is `api_key_id`. `values` assigns new values to the
/// row `u`, with the elements of the arrays as the columns of `n`.
pub(crate) fn update(columns: &[&str], values: &str) -> String {
    let arrays: Vec<_> = columns.iter().map(|column| format!("unnest(?) AS {column}")).collect();
    let arrays = arrays.join(", ");
    format!(
        "/* usage_rows.update */ UPDATE usage AS u SET {values}, {NEXT_GENERATION}
         FROM (
             SELECT n.*, (
                 SELECT c.generation FROM usage AS c WHERE c.api_key_id = n.api_key_id
                 ORDER BY c.generation DESC LIMIT 1
             ) AS newest
             FROM (SELECT {arrays}) AS n OFFSET 0
         ) AS n
         WHERE u.api_key_id = ANY (ARRAY[n.api_key_id]) AND u.generation = n.newest"
    )
}

/// Counts an update of the row `u`, and moves the row to the next generation after 16 updates. Shorter generations would
/// cost more index entries, longer ones longer look-ups.
pub(crate) const NEXT_GENERATION: &str =
    "updates = u.updates + 1, generation = (u.updates + 1) / 16";
