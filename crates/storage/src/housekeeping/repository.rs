//! Housekeeping: counts rows and deletes expired rows, in batches of limited size.

use std::{ops::RangeInclusive, time::Duration};

use diesel::{
    prelude::*,
    sql_query,
    sql_types::{BigInt, Text},
};
use sealpost_domain::{
    ChannelId, Timestamp,
    ports::{ExpiringRows, StoreError, UncountedRows},
};

use crate::{
    connection::{AnyConnection, fault::Fault, on_backend, transaction::Transaction},
    housekeeping::{
        daily_counts, deleted_webhooks, expired_envelopes,
        partitions::{self, ATTEMPTS, ENVELOPES},
        purge_attempts, purge_events, task_turn,
    },
    queue::rotations,
    records::retiring_secrets,
    rows::columns,
    schema::envelopes as e,
};

impl Transaction {
    /// Creates partitions for the rows of the next `span`, if the database has partitions. Returns true if any
    /// partition was created. Uses the earlier of `now` and the clock of the database server.
    ///
    /// A partition contains the rows of about `span`, and retention drops a partition once all its rows have expired.
    /// Therefore a row can stay stored for about `span` after it has expired.
    pub fn extend_partitions(
        &mut self,
        now: Timestamp,
        span: Duration,
    ) -> Result<bool, StoreError> {
        self.run(|conn| {
            let Some(server) = task_turn::server_clock(conn)? else { return Ok(false) };
            let AnyConnection::Postgres(pg) = conn else { return Ok(false) };
            let now = now.min(server);
            let envelopes = partitions::extend(pg, &ENVELOPES, now, span)?;
            Ok(partitions::extend(pg, &ATTEMPTS, now, span)? || envelopes)
        })
    }

    /// Deletes rows of one kind with a time from before `before`.
    pub fn purge_expired(
        &mut self,
        rows: ExpiringRows,
        before: Timestamp,
        limit: u32,
    ) -> Result<u64, StoreError> {
        let table = ExpiringTable::of(rows);
        let expired = self.purge_cursor.expired(table.name, before);
        let purged = self.run(|conn| purge(conn, &table, &expired, limit))?;
        self.purged.extend(purged.iter().max().map(|last| (table.name, *last)));
        Ok(u64::try_from(purged.len()).unwrap_or(u64::MAX))
    }

    /// Deletes envelopes that were sealed before `before`, and the deliveries that these envelopes still have.
    /// Subtracts the size of the deleted envelopes from the stored bytes of their senders.
    ///
    /// A deleted envelope bounces at `now` (its sender gets an event) if all of these hold:
    /// - It was not opened.
    /// - None of its deliveries succeeded.
    /// - It was waiting for a webhook, or at least one of its deliveries was still stored.
    ///
    /// Returns `limit` if more work may be left, even if the call deleted fewer envelopes.
    pub fn purge_envelopes(
        &mut self,
        before: Timestamp,
        now: Timestamp,
        limit: u32,
    ) -> Result<u64, StoreError> {
        self.run(|conn| {
            let purged = expired_envelopes::purge(conn, before, now, limit.into())?;
            columns::number(purged, "number of envelopes")
        })
    }

    /// Deletes events that were created before `before`, and the deliveries that these events still have. Also deletes
    /// the recorded outcomes (delivered or bounced) of envelopes that are already deleted. The returned number is the
    /// sum of deleted events and deleted outcomes.
    pub fn purge_events(&mut self, before: Timestamp, limit: u32) -> Result<u64, StoreError> {
        self.run(|conn| {
            let events = purge_events::purge_events(conn, before, limit.into())?;
            let outcomes = purge_events::purge_outcomes(conn, before, limit.into())?;
            columns::number(events + outcomes, "number of rows")
        })
    }

    /// Stores events that inform the correspondents of changed keys. The correspondents of a key are the keys that sent
    /// to this key or received from it. Finds the correspondents in the stored envelopes, which are read newest first.
    ///
    /// Each call reads up to `limit` envelopes, down to those sealed at `oldest`. Returns `true` if envelopes are left to
    /// read. At most `informed_max` correspondents of a changed key get an event, and each of them gets one event. The
    /// deliveries of the events are due at `now`.
    pub fn inform_correspondents(
        &mut self,
        oldest: Timestamp,
        now: Timestamp,
        informed_max: u32,
        limit: u32,
    ) -> Result<bool, StoreError> {
        self.run(|conn| rotations::inform(conn, (oldest, now), informed_max.into(), limit.into()))
    }

    /// Deletes channels that ended before `before` and have no envelopes left. A channel ends `life` after its start.
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

    /// Adds the rows that [`uncounted`](crate::Reader::uncounted) has read to the daily counts. Returns the number of
    /// counted rows, or 0 if rows of the table were counted since these rows were read.
    pub fn count(&mut self, rows: &UncountedRows) -> Result<u64, StoreError> {
        self.run(|conn| daily_counts::count(conn, rows))
    }

    /// Deletes attempts that ended before `before`.
    pub fn purge_attempts(&mut self, before: Timestamp, limit: u32) -> Result<u64, StoreError> {
        self.run(|conn| {
            let purged = purge_attempts::purge_attempts(conn, before, limit.into())?;
            columns::number(purged, "number of attempts")
        })
    }

    /// Deletes the deliveries and attempts of deleted webhooks, then all other rows about these webhooks. Envelopes
    /// bounce at `now` under the same condition as in [`delete_webhook`](crate::Transaction::delete_webhook).
    pub fn purge_deleted_webhooks(
        &mut self,
        now: Timestamp,
        limit: u32,
    ) -> Result<u64, StoreError> {
        self.run(|conn| deleted_webhooks::purge(conn, now, limit.into()))
    }

    /// Deletes replaced signing secrets that are no longer in use at `now`. Returns the number of affected webhooks.
    pub fn purge_retired_secrets(&mut self, now: Timestamp, limit: u32) -> Result<u64, StoreError> {
        self.run(|conn| retiring_secrets::purge(conn, now, limit.into()))
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

/// A table with its primary key, and the column with the time by which its rows expire.
struct ExpiringTable {
    name: &'static str,
    key: &'static str,
    time: &'static str,
}

impl ExpiringTable {
    fn of(rows: ExpiringRows) -> Self {
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
