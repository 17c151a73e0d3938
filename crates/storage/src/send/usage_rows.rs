//! Locks and updates usage rows on PostgreSQL, and the counters of stored bytes. The usage row of an API key is also
//! the lock of the key.
//!
//! Each batch of sends updates the rows of its senders. While another session has an open snapshot, PostgreSQL keeps
//! all old versions of a row. Every 16th update therefore moves the row to the next generation, a part of its primary
//! key. A look-up begins with the highest generation, and so reads at most 16 versions.
//!
//! The stored bytes are the total size of the sealed envelopes of each sender. The counter is a column of the usage
//! row, because every send updates that row anyway.

use std::{collections::HashMap, sync::LazyLock};

use diesel::{
    PgConnection,
    dsl::sql,
    prelude::*,
    sql_types::{BigInt, Text},
};
use sealpost_domain::{AccountId, ApiKeyId, ports::StoreError};

use crate::{
    connection::{AnyConnection, on_backend, query_error::QueryError, transaction::Transaction},
    query::{
        any_of::any_of,
        row_address::{RowAddress, Tid},
        statement::Statement,
    },
    rows::columns,
    schema::{api_keys as k, stored_bytes as s},
};

impl Transaction {
    /// Reads the stored bytes of each account: the size of all sealed envelopes sent by its keys. The map has no entry
    /// for an unknown account.
    pub fn stored_bytes(
        &mut self,
        accounts: &[AccountId],
    ) -> Result<HashMap<AccountId, u64>, StoreError> {
        self.run(|conn| {
            let sums = k::table
                .inner_join(s::table)
                .filter(any_of(k::account_id, columns::texts(accounts)))
                .group_by(k::account_id)
                .select((k::account_id, sql::<BigInt>("CAST(sum(stored_bytes) AS BIGINT)")));
            on_backend!(conn, c => sums.load::<(String, i64)>(c))?
                .into_iter()
                .map(|(account, bytes)| {
                    Ok((columns::id(&account, "key")?, columns::number(bytes, "stored bytes")?))
                })
                .collect()
        })
    }
}

/// Locks an API key by its usage row. Does nothing on SQLite.
pub(crate) fn lock(conn: &mut AnyConnection, key: &ApiKeyId) -> Result<(), QueryError> {
    if let AnyConnection::Postgres(pg) = conn {
        lock_postgres(pg, [key.to_string()].into_iter())?;
    }
    Ok(())
}

/// Locks the usage rows of these API keys in the order of ids, like all transactions. Returns the addresses of the rows
/// by key. SQLite needs no lock, because it has one writer at a time.
pub(crate) fn lock_postgres<S: Into<String>>(
    conn: &mut PgConnection,
    keys: impl Iterator<Item = S>,
) -> Result<Vec<(String, RowAddress)>, QueryError> {
    let statement = Statement::<_, (Text, Tid)>::query(
        "/* usage_rows.lock_postgres */ SELECT api_key_id, address FROM lock_usage(?)",
    );
    Ok(statement.bind_array::<Text, String>(keys.map(Into::into)).load(conn)?)
}

/// Returns the text of a statement that updates usage rows by their addresses (`ctid`). The transaction must have
/// locked the rows before, because an update by another transaction would change their addresses.
///
/// Each parameter is an array with one element for each row: first the addresses, then one array for each of `columns`,
/// in the same order. `columns` must contain `api_key_id`.
///
/// `values` is the SQL text of assignments for the clause `SET`. In this text, `u` is the row to update, and `n` has
/// one column for each array, with the element for this row.
pub(crate) fn update(columns: &[&str], values: &str) -> String {
    // The statement also compares `api_key_id`, so that a wrong address changes no row. With `IS NOT DISTINCT FROM`
    // instead of `=`, PostgreSQL cannot search an index for this comparison, and can only read the row at each address.
    let columns = std::iter::once(&"address").chain(columns);
    let arrays: Vec<_> = columns.map(|column| format!("unnest(?) AS {column}")).collect();
    let arrays = arrays.join(", ");
    format!(
        "/* usage_rows.update */ UPDATE usage AS u SET {values}, {NEXT_GENERATION}
         FROM (SELECT {arrays}) AS n
         WHERE u.ctid = n.address AND u.api_key_id IS NOT DISTINCT FROM n.api_key_id"
    )
}

/// Subtracts the bytes of deleted envelopes from the counters of their senders. On PostgreSQL, first locks the rows of
/// the counters.
///
/// A counter stops at 0, because a negative counter could not be read.
pub(crate) fn subtract_bytes(
    conn: &mut AnyConnection,
    deleted: &[(String, i64)],
) -> Result<(), QueryError> {
    if deleted.is_empty() {
        return Ok(());
    }
    match conn {
        AnyConnection::Postgres(conn) => {
            let bytes: HashMap<_, _> =
                deleted.iter().map(|(sender, bytes)| (sender, *bytes)).collect();
            let locked = lock_postgres(conn, bytes.keys().copied())?;
            let bytes_of = |sender| bytes.get(sender).copied().unwrap_or(0);
            // A second statement subtracts the bytes, because that statement sees the changes of the transaction that
            // held the lock before.
            Statement::command(&SUBTRACT_POSTGRES)
                .bind_array::<Tid, _>(locked.iter().map(|(_, address)| address))
                .bind_array::<Text, _>(locked.iter().map(|(sender, _)| sender))
                .bind_array::<BigInt, _>(locked.iter().map(|(sender, _)| bytes_of(sender)))
                .execute(conn)?;
        }
        AnyConnection::Sqlite(conn) => {
            for (sender, bytes) in deleted {
                Statement::command(SUBTRACT_SQLITE)
                    .bind::<BigInt, _>(bytes)
                    .bind::<Text, _>(sender)
                    .execute(conn)?;
            }
        }
    }
    Ok(())
}

/// SQL assignments that increment the update counter of the row `u`. After 16 updates, they move the row to the next
/// generation, a part of its primary key. Shorter generations would add more index entries, and longer generations
/// would make look-ups slower.
pub(crate) const NEXT_GENERATION: &str =
    "updates = u.updates + 1, generation = (u.updates + 1) / 16";

static SUBTRACT_POSTGRES: LazyLock<String> = LazyLock::new(|| {
    let difference = "stored_bytes = greatest(0, u.stored_bytes - n.bytes)";
    update(&["api_key_id", "bytes"], difference)
});

const SUBTRACT_SQLITE: &str = "/* stored_bytes.subtract_sqlite */ UPDATE usage SET stored_bytes = max(0, stored_bytes - ?) WHERE api_key_id = ?";
