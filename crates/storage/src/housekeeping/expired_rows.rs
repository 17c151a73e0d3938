//! Deletes rows that are no longer needed:
//!
//! - rows that expire by a time in one of their columns, such as sessions
//! - entries of the activity log after the end of their retention
//! - ended channels (shared key encapsulations)
//! - events after the end of their retention, and rows of `envelope_outcomes` without an envelope
//! - expired retiring secrets: former signing secrets of webhooks, which still sign until they expire

use std::time::Duration;

use diesel::{
    prelude::*,
    sql_query,
    sql_types::{BigInt, Text},
};
use sealpost_domain::{
    ActivityId, ChannelId, EnvelopeId, OwnEventId, Timestamp,
    ports::{ExpiringRows, StoreError},
};

use crate::{
    connection::{AnyConnection, on_backend, query_error::QueryError, transaction::Transaction},
    query::{
        any_of::any_of,
        row_lock::{Locked, RowLock},
    },
    rows::{
        columns::{self, NumberRow},
        retiring_secrets,
    },
    schema::{deliveries as d, envelope_outcomes as o, envelopes as e, events as v, webhooks as w},
};

impl Transaction {
    /// Deletes up to `limit` rows of one kind with a time before `before`, oldest first. Depending on the kind, this is
    /// the time of expiry, creation, sending or use. Returns the number of deleted rows.
    pub fn purge_expired(
        &mut self,
        rows: ExpiringRows,
        before: Timestamp,
        limit: u32,
    ) -> Result<u64, StoreError> {
        let (table, key, time) = match rows {
            ExpiringRows::ApiTokens => ("api_tokens", "id", "expires_at"),
            ExpiringRows::Contacts => ("contacts", "api_key_id, contact", "sent_at"),
            ExpiringRows::IdempotencyKeys => {
                ("idempotency_keys", "api_key_id, idempotency_key", "created_at")
            }
            ExpiringRows::Sessions => ("sessions", "token", "expires_at"),
            ExpiringRows::UsedForms => ("used_forms", "form", "used_at"),
        };
        let expired = self.purge_cursor.expired(table, before);
        // The statement is not cached as a prepared statement, so that PostgreSQL plans it for this limit. The outer
        // condition keeps a row that another transaction has renewed since the search. With `+ 0`, the outer condition
        // uses no index: a scan of the index would read all expired rows, and the old versions that an open snapshot
        // keeps.
        let purge = sql_query(format!(
            "/* expired_rows.purge_{table} */ DELETE FROM {table} WHERE ({key}) IN (
                 SELECT {key} FROM {table} WHERE {time} >= $1 AND {time} <= $2 ORDER BY {time} LIMIT $3
             ) AND {time} + 0 <= $2 RETURNING {time} AS number"
        ));
        let purge = purge
            .bind::<BigInt, _>(*expired.start())
            .bind::<BigInt, _>(*expired.end())
            .bind::<BigInt, _>(i64::from(limit));
        let purged = self.run(|conn| Ok(on_backend!(conn, c => purge.load::<NumberRow>(c))?))?;
        let last = purged.iter().map(|row| row.number).max();
        self.purged.extend(last.map(|last| (table, last)));
        Ok(u64::try_from(purged.len()).unwrap_or(u64::MAX))
    }

    /// Deletes up to `limit` entries older than `before` from the activity logs of all accounts, oldest first. Returns
    /// the number of deleted entries.
    pub fn purge_activity(&mut self, before: Timestamp, limit: u32) -> Result<u64, StoreError> {
        let below = ActivityId::new(before, [0; 10]).to_string();
        self.run(|conn| purge_below(conn, "activity", &below, limit))
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
            purge_below(conn, "channels", &below, limit)
        })
    }

    /// Deletes up to `limit` events that were created before `before`, oldest first, and their deliveries. Also deletes
    /// up to `limit` rows of `envelope_outcomes` without an envelope. Returns the sum of deleted events and rows.
    pub fn purge_events(&mut self, before: Timestamp, limit: u32) -> Result<u64, StoreError> {
        self.run(|conn| {
            let below = OwnEventId::new(before, [0; 10]).to_string();
            let old = v::table.filter(v::id.lt(below)).order(v::id).limit(limit.into());
            let old: Vec<String> = old.select(v::id).load(conn)?;
            if !old.is_empty() {
                lock_deliveries(conn, &old)?;
                let deliveries = d::table.filter(any_of(d::event_id, &old));
                on_backend!(conn, c => diesel::delete(deliveries).execute(c))?;
                let events = v::table.filter(any_of(v::id, &old));
                on_backend!(conn, c => diesel::delete(events).execute(c))?;
            }
            let outcomes = purge_outcomes(conn, before, limit.into())?;
            columns::number(old.len() + outcomes, "number of rows")
        })
    }

    /// Deletes the former signing secrets of webhooks that have expired at `now` (expired retiring secrets). Changes up
    /// to `limit` webhooks and returns their number.
    pub fn purge_retired_secrets(&mut self, now: Timestamp, limit: u32) -> Result<u64, StoreError> {
        self.run(|conn| {
            let retired = w::table
                .filter(w::retiring_until.le(now.as_millis()))
                .order(w::id)
                .limit(limit.into())
                .select((w::api_key_id, w::id, w::retiring));
            let mut rows: Vec<(String, String, Option<Vec<u8>>)> =
                on_backend!(conn, c => Locked::new(retired, RowLock::Alone).load(c))?;
            // At the commit, triggers lock the facts versions of the keys in the order of these updates.
            rows.sort_unstable();
            for (_, id, list) in &rows {
                let mut secrets = retiring_secrets::read(list.as_deref())?;
                secrets.retain(|secret| secret.until > now);
                let (list, until) = retiring_secrets::write(&secrets)?;
                diesel::update(w::table.find(id))
                    .set((w::retiring.eq(list), w::retiring_until.eq(until)))
                    .execute(conn)?;
            }
            columns::number(rows.len(), "number of webhooks")
        })
    }
}

/// Deletes up to `limit` rows of a table with ids below `below`, oldest first. Returns the number of deleted rows.
fn purge_below(
    conn: &mut AnyConnection,
    table: &str,
    below: &str,
    limit: u32,
) -> Result<u64, QueryError> {
    let purge = sql_query(format!(
        "/* expired_rows.purge_{table} */ DELETE FROM {table} WHERE id IN (
             SELECT id FROM {table} WHERE id < $1 ORDER BY id LIMIT $2
         )"
    ));
    let purge = purge.bind::<Text, _>(below).bind::<BigInt, _>(i64::from(limit));
    columns::number(purge.execute(conn)?, "number of rows")
}

/// Locks the deliveries of these events in the order of events and webhooks, like all transactions that lock several
/// deliveries. Does nothing on SQLite.
fn lock_deliveries(conn: &mut AnyConnection, events: &[String]) -> Result<(), QueryError> {
    if let AnyConnection::Postgres(pg) = conn {
        let deliveries = d::table
            .filter(any_of(d::event_id, events))
            .order((d::event_id, d::webhook_id))
            .select(d::event_id);
        Locked::new(deliveries, RowLock::Alone).load::<String>(pg)?;
    }
    Ok(())
}

/// Deletes up to `limit` rows of `envelope_outcomes` whose envelope was sealed before `before` and no longer exists.
/// Returns the number of rows.
///
/// Envelopes are deleted oldest first, so all envelopes with ids below the oldest stored one are already deleted.
fn purge_outcomes(
    conn: &mut AnyConnection,
    before: Timestamp,
    limit: i64,
) -> Result<usize, QueryError> {
    let bound = EnvelopeId::new(before, [0; 10]).to_string();
    let oldest = e::table.order(e::id).select(e::id).first::<String>(conn).optional()?;
    let bound = oldest.map_or(bound.clone(), |oldest| oldest.min(bound));
    let old = o::table.filter(o::envelope_id.lt(bound)).order(o::envelope_id).limit(limit);
    let old: Vec<String> = old.select(o::envelope_id).load(conn)?;
    if !old.is_empty() {
        let outcomes = o::table.filter(any_of(o::envelope_id, &old));
        on_backend!(conn, c => diesel::delete(outcomes).execute(c))?;
    }
    Ok(old.len())
}
