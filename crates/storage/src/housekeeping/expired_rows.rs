//! Deletes rows that expire by a time of their own, such as sessions, and ended channels.

use std::{ops::RangeInclusive, time::Duration};

use diesel::{
    prelude::*,
    sql_query,
    sql_types::{BigInt, Text},
};
use sealpost_domain::{
    ChannelId, Timestamp,
    ports::{ExpiringRows, StoreError},
};

use crate::{
    connection::{AnyConnection, fault::Fault, on_backend, transaction::Transaction},
    rows::columns,
    schema::envelopes as e,
};

impl Transaction {
    /// Deletes up to `limit` rows of one kind whose time is before `before`, oldest first. Returns the number of
    /// deleted rows.
    pub fn purge_expired(
        &mut self,
        rows: ExpiringRows,
        before: Timestamp,
        limit: u32,
    ) -> Result<u64, StoreError> {
        let table = ExpiringTable::new(rows);
        let expired = self.purge_cursor.expired(table.name, before);
        let purged = self.run(|conn| purge(conn, &table, &expired, limit))?;
        self.purged.extend(purged.iter().max().map(|last| (table.name, *last)));
        Ok(u64::try_from(purged.len()).unwrap_or(u64::MAX))
    }

    /// Deletes up to `limit` channels that ended before `before` and have no envelopes left. A channel ends `life`
    /// after its start. Returns the number of deleted channels.
    pub fn purge_channels(
        &mut self,
        before: Timestamp,
        life: Duration,
        limit: u32,
    ) -> Result<u64, StoreError> {
        self.run(|conn| {
            // A channel is one key encapsulation, which many envelopes use. Envelopes are deleted oldest first. If a
            // channel ended before the oldest stored envelope was created, all envelopes of the channel are deleted.
            let oldest = e::table.order(e::id).select(e::created_at).first(conn).optional()?;
            let ended = columns::instant(oldest).map_or(before, |oldest| oldest.min(before));
            let below = ChannelId::new(ended.minus(life), [0; 10]).to_string();
            let purge =
                sql_query(CHANNELS).bind::<Text, _>(below).bind::<BigInt, _>(i64::from(limit));
            columns::number(purge.execute(conn)?, "number of rows")
        })
    }
}

/// Deletes up to `limit` rows of a table with a time in the range, oldest first. Returns their times. The statement is
/// not cached as a prepared statement, so that PostgreSQL plans it for this limit.
fn purge(
    conn: &mut AnyConnection,
    table: &ExpiringTable,
    expired: &RangeInclusive<i64>,
    limit: u32,
) -> Result<Vec<i64>, Fault> {
    let ExpiringTable { name, key, time } = table;
    let purge = sql_query(format!(
        "DELETE FROM {name} WHERE ({key}) IN (
             SELECT {key} FROM {name} WHERE {time} >= $1 AND {time} <= $2 ORDER BY {time} LIMIT $3
         ) RETURNING {time} AS time"
    ));
    let purge = purge
        .bind::<BigInt, _>(*expired.start())
        .bind::<BigInt, _>(*expired.end())
        .bind::<BigInt, _>(i64::from(limit));
    let purged = on_backend!(conn, c => purge.load::<Purged>(c))?;
    Ok(purged.into_iter().map(|row| row.time).collect())
}

#[derive(QueryableByName)]
struct Purged {
    #[diesel(sql_type = BigInt)]
    time: i64,
}

/// A table with its primary key, and the column with the time that decides whether a row has expired.
struct ExpiringTable {
    name: &'static str,
    key: &'static str,
    time: &'static str,
}

impl ExpiringTable {
    fn new(rows: ExpiringRows) -> Self {
        let (name, key, time) = match rows {
            ExpiringRows::ApiTokens => ("api_tokens", "id", "expires_at"),
            ExpiringRows::Contacts => ("contacts", "api_key_id, contact", "sent_at"),
            ExpiringRows::IdempotencyKeys => {
                ("idempotency_keys", "api_key_id, idempotency_key", "created_at")
            }
            ExpiringRows::Sessions => ("sessions", "token", "expires_at"),
            ExpiringRows::UsedForms => ("used_forms", "form", "used_at"),
        };
        Self { name, key, time }
    }
}

const CHANNELS: &str = "
    DELETE FROM channels WHERE id IN (
        SELECT id FROM channels WHERE id < $1 ORDER BY id LIMIT $2
    )";
