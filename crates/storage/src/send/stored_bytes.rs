//! Stored bytes: the total size of the sealed envelopes of each sender. The counter is a column of the usage row,
//! because every send updates that row anyway.

use std::{collections::HashMap, sync::LazyLock};

use diesel::{
    dsl::sql,
    prelude::*,
    sql_types::{BigInt, Text},
};
use sealpost_domain::{AccountId, ports::StoreError};

use crate::{
    connection::{AnyConnection, fault::Fault, on_backend, transaction::Transaction},
    query::{any_of::any_of, row_address::Tid, statement::Statement},
    rows::columns,
    schema::{api_keys as k, stored_bytes as s},
    send::usage_rows,
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

/// Subtracts the bytes of deleted envelopes from the counters of their senders. On PostgreSQL, first locks the rows of
/// the counters.
///
/// A counter stops at 0, because a negative counter could not be read.
pub(crate) fn subtract(conn: &mut AnyConnection, deleted: &[(String, i64)]) -> Result<(), Fault> {
    if deleted.is_empty() {
        return Ok(());
    }
    match conn {
        AnyConnection::Postgres(conn) => {
            let bytes: HashMap<_, _> =
                deleted.iter().map(|(sender, bytes)| (sender, *bytes)).collect();
            let locked = usage_rows::lock_postgres(conn, bytes.keys().copied())?;
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

static SUBTRACT_POSTGRES: LazyLock<String> = LazyLock::new(|| {
    let difference = "stored_bytes = greatest(0, u.stored_bytes - n.bytes)";
    usage_rows::update(&["api_key_id", "bytes"], difference)
});

const SUBTRACT_SQLITE: &str = "/* stored_bytes.subtract_sqlite */ UPDATE usage SET stored_bytes = max(0, stored_bytes - ?) WHERE api_key_id = ?";
