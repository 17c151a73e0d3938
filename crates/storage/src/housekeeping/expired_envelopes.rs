//! Deletes envelopes after the end of their retention, with their rows in `deliveries` and `waiting_envelopes` (the
//! envelopes that wait for a webhook of their recipient).
//!
//! To end an envelope means three things:
//!
//! - If the envelope was neither opened nor delivered, it bounces: its sender gets an event.
//! - The bytes of the envelope are subtracted from the stored bytes of its sender.
//! - The envelope is deleted.
//!
//! [`single_rows`] deletes envelopes one by one. On PostgreSQL, [`whole_partitions`] ends most envelopes, and deletes
//! them by dropping their partition.
//!
//! A transaction bounces at most about [`BOUNCED_MAX`] envelopes, because each bounce stores an event and its
//! deliveries.

mod single_rows;
pub(crate) mod whole_partitions;

use std::{collections::BTreeMap, panic::resume_unwind, thread};

use diesel::{dsl::max, prelude::*};
use sealpost_domain::{BounceReason, Timestamp, UnopenedEnvelope, ports::StoreError};

use crate::{
    connection::{AnyConnection, query_error::QueryError, transaction::Transaction},
    database::Database,
    housekeeping::partitions::{self, ENVELOPES, first_id},
    queue::bounces,
    rows::columns,
    schema::envelopes as e,
};

impl Transaction {
    /// Deletes envelopes that were sealed before `before`, oldest first, and their remaining deliveries. Subtracts the
    /// size of the deleted envelopes from the stored bytes of their senders.
    ///
    /// A deleted envelope bounces at `now` (its sender gets an event) if it was not opened, none of its deliveries
    /// succeeded, and it was waiting for a webhook or still had a delivery.
    ///
    /// Returns `limit` if more work may be left, even if this call deleted fewer envelopes. Returns a lower number if
    /// no work is left.
    pub fn purge_envelopes(
        &mut self,
        before: Timestamp,
        now: Timestamp,
        limit: u32,
    ) -> Result<u64, StoreError> {
        self.run(|conn| {
            let ranges = match conn {
                AnyConnection::Postgres(pg) => {
                    let partitions = partitions::list(pg, &ENVELOPES)?;
                    if let Some(upper) = partitions::first_ended(&partitions, before) {
                        let has_more = whole_partitions::release(conn, upper, now, limit.into())?
                            || whole_partitions::drop_released(conn, upper)?;
                        // Until this partition is dropped, deletes no rows one by one. The bytes of all rows before
                        // `upper` may already be subtracted, and a deletion would subtract them again.
                        return Ok(if has_more { limit.into() } else { 0 });
                    }
                    partitions::ranges_of_rows(&partitions, before)
                }
                AnyConnection::Sqlite(_) => vec![(None, before)],
            };
            let mut left = i64::from(limit);
            for (from, below) in ranges {
                let from = from.map(first_id).unwrap_or_default();
                let purged = single_rows::purge(conn, (&from, &first_id(below)), now, left)?;
                left -= columns::number::<i64, _>(purged, "number of envelopes")?;
            }
            columns::number(i64::from(limit) - left, "number of envelopes")
        })
    }
}

impl Database {
    /// Reads the oldest envelopes from before `before`, up to `limit`, so that they are in memory when
    /// [`Transaction::purge_envelopes`](crate::Transaction::purge_envelopes) deletes them. Does nothing on a database
    /// server, where other writes do not wait for a deletion.
    ///
    /// The pages of expired envelopes are often only on the disk. While a deletion waits for the disk, all other
    /// writers of SQLite wait too.
    pub fn read_ahead(&self, before: Timestamp, limit: u32) -> Result<(), StoreError> {
        if !self.has_single_writer() {
            return Ok(());
        }
        let below = first_id(before);
        let ids = self.look_up(|conn| {
            let expired = e::table.filter(e::id.lt(&below)).order(e::id).limit(limit.into());
            Ok(expired.select(e::id).load::<String>(conn)?)
        })?;
        // Several threads read at the same time, because one thread would wait for the disk at each page.
        let portion = ids.len().div_ceil(THREADS).max(1);
        thread::scope(|scope| {
            let threads: Vec<_> =
                ids.chunks(portion).map(|ids| scope.spawn(|| read_rows(self, ids))).collect();
            threads.into_iter().try_for_each(|thread| {
                thread.join().unwrap_or_else(|panicked| resume_unwind(panicked))
            })
        })
    }
}

/// Reads a column that is in no index, so that SQLite reads the pages of the rows.
fn read_rows(database: &Database, ids: &[String]) -> Result<(), StoreError> {
    let (Some(first), Some(last)) = (ids.first(), ids.last()) else { return Ok(()) };
    database.look_up(|conn| {
        let rows = e::table.filter(e::id.between(first, last));
        Ok(rows.select(max(e::payload_size_bytes)).first::<Option<i64>>(conn)?)
    })?;
    Ok(())
}

/// Bounces the envelopes in `ended` that were neither opened nor delivered: their senders get an event.
pub(crate) fn bounce(
    conn: &mut AnyConnection,
    ended: &EndedEnvelopes,
    now: Timestamp,
) -> Result<(), QueryError> {
    let read = |(id, sender, recipient): &(String, String, String)| {
        let envelope = UnopenedEnvelope {
            id: columns::id(id, "envelope")?,
            sender: columns::id(sender, "envelope")?,
            recipient: columns::id(recipient, "envelope")?,
            is_recipient_revoked: false,
            is_pending: false,
            is_exhausted: false,
        };
        Ok((envelope, BounceReason::Expired))
    };
    let received = bounces::received(conn, ended.undelivered.iter().map(|(id, ..)| id))?;
    let expired = ended.undelivered.iter().filter(|(id, ..)| !received.contains(id));
    let expired = expired.map(read).collect::<Result<Vec<_>, QueryError>>()?;
    bounces::bounce(conn, &expired, now)
}

/// The envelopes that one statement has deleted, or whose deliveries the statement has deleted.
pub(crate) struct EndedEnvelopes {
    count: usize,
    /// The id, sender and recipient of each envelope that was neither opened nor delivered.
    undelivered: Vec<(String, String, String)>,
    /// The total sealed bytes of the envelopes of each sender.
    bytes: Vec<(String, i64)>,
}

/// A row about one envelope: its id, sender and recipient, whether the envelope was neither opened nor delivered, and
/// the number of its sealed bytes.
type EndedRow = (String, String, String, bool, i64);

impl From<Vec<EndedRow>> for EndedEnvelopes {
    fn from(rows: Vec<EndedRow>) -> Self {
        let mut bytes = BTreeMap::<String, i64>::new();
        for (_, sender, _, _, sealed_bytes) in &rows {
            *bytes.entry(sender.clone()).or_default() += sealed_bytes;
        }
        let count = rows.len();
        let undelivered = rows.into_iter().filter(|(.., is_undelivered, _)| *is_undelivered);
        let undelivered = undelivered.map(|(id, sender, recipient, ..)| (id, sender, recipient));
        Self { count, undelivered: undelivered.collect(), bytes: bytes.into_iter().collect() }
    }
}

/// Part of a `WITH` clause that deletes the rows of envelopes in `deliveries` and `waiting_envelopes`. The previous
/// part, `old`, selects the envelopes. Skips an envelope if another transaction has locked the envelope or one of its
/// deliveries.
const DELETE_QUEUED: &str = "queued AS MATERIALIZED (
         SELECT envelope_id FROM deliveries
         WHERE envelope_id = ANY (ARRAY(SELECT id FROM old)) FOR UPDATE SKIP LOCKED
     ), busy AS (
         SELECT envelope_id FROM deliveries
         WHERE envelope_id = ANY (ARRAY(SELECT id FROM old))
         EXCEPT ALL SELECT envelope_id FROM queued
     ), free AS MATERIALIZED (
         SELECT id, sender, recipient, opened_at, octet_length(sealed)::BIGINT AS sealed_bytes
         FROM envelopes
         WHERE id = ANY (ARRAY(SELECT id FROM old EXCEPT SELECT envelope_id FROM busy))
         FOR UPDATE SKIP LOCKED
     ), undelivered AS (
         DELETE FROM deliveries WHERE envelope_id = ANY (ARRAY(SELECT id FROM free))
         RETURNING envelope_id
     ), waiting AS (
         DELETE FROM waiting_envelopes WHERE envelope_id = ANY (ARRAY(SELECT id FROM free))
         RETURNING envelope_id
     )";

/// SQL condition: an envelope was neither opened nor delivered.
const IS_UNDELIVERED: &str = "opened_at IS NULL AND id IN (
         SELECT envelope_id FROM undelivered UNION ALL SELECT envelope_id FROM waiting
     )";

/// Maximum number of deliveries, and of waiting envelopes, that one transaction deletes. An envelope with more
/// deliveries is an exception.
const BOUNCED_MAX: i64 = 500;

/// Number of threads of [`Database::read_ahead`].
const THREADS: usize = 4;
