//! Locks and updates usage rows on PostgreSQL. The usage row of an API key is also the lock of the key.
//!
//! Each batch of sends updates the rows of its senders, and an open snapshot of another session keeps all old versions
//! of a row. Every 16th update therefore moves the row to the next generation, a part of its primary key. A look-up
//! from the highest generation down reads at most 16 versions, no matter how many versions are kept.

use diesel::{PgConnection, prelude::*, sql_types::Text};

use crate::{
    connection::{AnyConnection, fault::Fault},
    query::{
        row_address::{RowAddress, Tid},
        statement::Statement,
    },
};

/// Locks the usage rows of these API keys in the order of ids, like the batches of sends. Does nothing on SQLite, which
/// has one writer at a time.
pub(crate) fn lock<S: Into<String>>(
    conn: &mut AnyConnection,
    keys: impl Iterator<Item = S>,
) -> Result<(), Fault> {
    match conn {
        AnyConnection::Postgres(conn) => lock_postgres(conn, keys).map(drop),
        AnyConnection::Sqlite(_) => Ok(()),
    }
}

/// Like [`lock`]. Returns the addresses of the rows by key.
pub(crate) fn lock_postgres<S: Into<String>>(
    conn: &mut PgConnection,
    keys: impl Iterator<Item = S>,
) -> Result<Vec<(String, RowAddress)>, Fault> {
    let statement = Statement::<_, (Text, Tid)>::query(
        "/* usage_rows.lock_postgres */ SELECT api_key_id, address FROM lock_usage(?)",
    );
    Ok(statement.bind_array::<Text, String>(keys.map(Into::into)).load(conn)?)
}

/// Returns the text of a statement that updates usage rows by their addresses (`ctid`). The transaction must have
/// locked the rows before, because an update by another transaction would change their addresses.
///
/// The parameters are arrays with one element for each row: first the addresses, then one array for each of `columns`,
/// which must contain `api_key_id`. `values` assigns new values to the row `u`, with the elements of the arrays as the
/// columns of `n`.
///
/// The statement also compares `api_key_id`, so that a wrong address changes no row. `IS NOT DISTINCT FROM` cannot use
/// an index. So PostgreSQL has only one plan: to read the row at each address.
pub(crate) fn update(columns: &[&str], values: &str) -> String {
    let columns = std::iter::once(&"address").chain(columns);
    let arrays: Vec<_> = columns.map(|column| format!("unnest(?) AS {column}")).collect();
    let arrays = arrays.join(", ");
    format!(
        "/* usage_rows.update */ UPDATE usage AS u SET {values}, {NEXT_GENERATION}
         FROM (SELECT {arrays}) AS n
         WHERE u.ctid = n.address AND u.api_key_id IS NOT DISTINCT FROM n.api_key_id"
    )
}

/// Counts an update of the row `u`, and moves the row to the next generation after 16 updates. Shorter generations
/// would cost more index entries, longer ones longer look-ups.
pub(crate) const NEXT_GENERATION: &str =
    "updates = u.updates + 1, generation = (u.updates + 1) / 16";
