//! Deletes expired envelopes, together with their deliveries and their rows in `waiting_envelopes`. Stores an event for
//! the sender of each undelivered envelope (a bounce).
//!
//! A transaction bounces at most about [`BOUNCED_MAX`] envelopes, because each bounce stores an event and its
//! deliveries.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::LazyLock,
};

use diesel::{
    PgConnection, SqliteConnection,
    dsl::sql,
    prelude::*,
    sql_types::{BigInt, Bool, Text},
};
use sealpost_domain::{BounceReason, Timestamp, UnopenedEnvelope};

use crate::{
    connection::{AnyConnection, fault::Fault},
    query::{any_of::any_of, statement::Statement},
    queue::bounces,
    rows::columns,
    schema::{deliveries as d, envelopes as e, waiting_envelopes as w},
};

/// Bounces the envelopes of `purged` that were neither opened nor delivered: their senders get an event.
pub(crate) fn bounce_expired(
    conn: &mut AnyConnection,
    purged: &PurgedRows,
    now: Timestamp,
) -> Result<(), Fault> {
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
    let received = bounces::received(conn, purged.undelivered.iter().map(|(id, ..)| id))?;
    let expired = purged.undelivered.iter().filter(|(id, ..)| !received.contains(id));
    let expired = expired.map(read).collect::<Result<Vec<_>, Fault>>()?;
    bounces::bounce(conn, &expired, now)
}

/// Summary of rows that one statement has deleted: envelopes, or the deliveries of envelopes.
pub(crate) struct PurgedRows {
    pub(crate) count: usize,
    /// The id, sender and recipient of each envelope that was neither opened nor delivered.
    undelivered: Vec<(String, String, String)>,
    /// The total sealed bytes of the envelopes of each sender.
    pub(crate) bytes: Vec<(String, i64)>,
}

/// A row about one envelope: its id, sender and recipient, whether the envelope was neither opened nor delivered, and
/// its sealed bytes.
type PurgedRow = (String, String, String, bool, i64);

impl From<Vec<PurgedRow>> for PurgedRows {
    fn from(rows: Vec<PurgedRow>) -> Self {
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

/// A portion of the expired envelopes: those that one transaction deletes.
pub(crate) struct ExpiredPortion {
    /// Upper bound of the portion: all its envelopes have ids below this text.
    pub(crate) below: String,
    /// Whether the portion has fewer envelopes than the limit allows, because more than about [`BOUNCED_MAX`] would
    /// bounce.
    pub(crate) is_cut: bool,
}

/// Selects the first envelopes in a range of ids: at most `limit`, and at most about [`BOUNCED_MAX`] with deliveries or
/// waiting rows. Selects at least one envelope if the range has any.
pub(crate) fn first_portion(
    conn: &mut AnyConnection,
    (from, below): (&str, &str),
    limit: i64,
) -> Result<ExpiredPortion, Fault> {
    let old = e::table.filter(e::id.ge(from)).filter(e::id.lt(below)).order(e::id).select(e::id);
    let first = old.first::<String>(conn).optional()?;
    let Some(first) = first else {
        return Ok(ExpiredPortion { below: below.to_owned(), is_cut: false });
    };
    let next = old.offset(limit).first::<String>(conn).optional()?;
    let below = next.unwrap_or_else(|| below.to_owned());
    let delivery = d::table
        .filter(d::event_id.gt(&first))
        .filter(d::event_id.lt(&below))
        .order(d::event_id)
        .offset(BOUNCED_MAX)
        .select(d::event_id);
    let waiting = w::table
        .filter(w::envelope_id.gt(&first))
        .filter(w::envelope_id.lt(&below))
        .order(w::envelope_id)
        .offset(BOUNCED_MAX)
        .select(w::envelope_id);
    let delivery = delivery.first::<String>(conn).optional()?;
    let waiting = waiting.first::<String>(conn).optional()?;
    Ok(match [delivery, waiting].into_iter().flatten().min() {
        Some(below) => ExpiredPortion { below, is_cut: true },
        None => ExpiredPortion { below, is_cut: false },
    })
}

/// Deletes up to `limit` envelopes in a range of ids. Only deletes envelopes of senders with a locked usage row.
/// Skips an envelope in two cases:
///
/// - A recipient is opening the envelope.
/// - Another transaction has locked a delivery of the envelope.
///
/// Therefore the statement never waits for a lock, and cannot deadlock with transactions that lock deliveries before
/// envelopes. The statement uses arrays instead of joins, because PostgreSQL may execute a join by scanning whole
/// tables.
///
/// An unopened envelope counts as undelivered only if this statement itself deleted a delivery or the waiting row of
/// the envelope. Otherwise another transaction may have removed the delivery after a success.
pub(crate) fn purge_postgres(
    conn: &mut PgConnection,
    (from, below): (&str, &str),
    locked_senders: &[String],
    limit: i64,
) -> Result<PurgedRows, Fault> {
    static TEXT: LazyLock<String> = LazyLock::new(|| {
        format!(
            "WITH old AS MATERIALIZED (
                 SELECT id FROM envelopes
                 WHERE id >= ? AND id < ? AND sender = ANY (?) ORDER BY id LIMIT ?
             ), {DELETE_QUEUED}
             DELETE FROM envelopes WHERE id = ANY (ARRAY(SELECT id FROM free))
             RETURNING id, sender, recipient, {IS_UNDELIVERED}, octet_length(sealed)::BIGINT"
        )
    });
    let rows = Statement::<_, (Text, Text, Text, Bool, BigInt)>::query(&TEXT)
        .bind::<Text, _>(from)
        .bind::<Text, _>(below)
        .bind_array::<Text, _>(locked_senders.iter())
        .bind::<BigInt, _>(limit)
        .load::<PurgedRow>(conn)?;
    Ok(rows.into())
}

/// Deletes the rows in `deliveries` and `waiting_envelopes` that belong to envelopes with ids below `below`. Does not
/// delete the envelopes. Finds these envelopes by the first `limit` rows of each of the two tables.
///
/// The columns of the envelopes come from `free`, which reads each row again after its lock. Without the lock, an
/// envelope that is opened meanwhile would still count as unopened.
pub(crate) fn end_deliveries(
    conn: &mut PgConnection,
    below: &str,
    limit: i64,
) -> Result<PurgedRows, Fault> {
    static TEXT: LazyLock<String> = LazyLock::new(|| {
        format!(
            "WITH old AS MATERIALIZED (
                 (SELECT envelope_id AS id FROM deliveries
                  WHERE envelope_id < ? ORDER BY envelope_id LIMIT ?)
                 UNION
                 (SELECT envelope_id FROM waiting_envelopes
                  WHERE envelope_id < ? ORDER BY envelope_id LIMIT ?)
             ), {DELETE_QUEUED}
             SELECT id, sender, recipient, {IS_UNDELIVERED}, sealed_bytes FROM free"
        )
    });
    let rows = Statement::<_, (Text, Text, Text, Bool, BigInt)>::query(&TEXT)
        .bind::<Text, _>(below)
        .bind::<BigInt, _>(limit)
        .bind::<Text, _>(below)
        .bind::<BigInt, _>(limit)
        .load::<PurgedRow>(conn)?;
    Ok(rows.into())
}

/// Part of a `WITH` clause that deletes the deliveries and waiting rows of envelopes. The previous part, `old`, selects
/// the envelopes. Skips an envelope if another transaction has locked the envelope or one of its deliveries.
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

/// Deletes the envelopes with ids below `below`, with their deliveries and waiting rows. Deletes by a range of ids,
/// because one range costs much less than a list of ids.
pub(crate) fn purge_sqlite(conn: &mut SqliteConnection, below: &str) -> Result<PurgedRows, Fault> {
    let mut queued: BTreeSet<String> = d::table
        .filter(d::event_id.lt(below))
        .select(d::event_id)
        .load(conn)?
        .into_iter()
        .collect();
    let waiting = w::table.filter(w::envelope_id.lt(below)).select(w::envelope_id);
    queued.extend(waiting.load::<String>(conn)?);
    let undelivered = e::table.filter(any_of(e::id, &queued)).filter(e::opened_at.is_null());
    let undelivered =
        undelivered.order(e::id).select((e::id, e::sender, e::recipient)).load(conn)?;
    let bytes = e::table.filter(e::id.lt(below)).group_by(e::sender);
    let bytes = bytes.select((e::sender, sql::<BigInt>("sum(length(sealed))"))).load(conn)?;
    diesel::delete(w::table.filter(w::envelope_id.lt(below))).execute(conn)?;
    diesel::delete(d::table.filter(d::event_id.lt(below))).execute(conn)?;
    let count = diesel::delete(e::table.filter(e::id.lt(below))).execute(conn)?;
    Ok(PurgedRows { count, undelivered, bytes })
}

/// Maximum number of deliveries, and of waiting envelopes, that end in one transaction. One envelope with more
/// deliveries is an exception.
pub(crate) const BOUNCED_MAX: i64 = 500;
