//! Deletes envelopes whose retention has ended, together with their deliveries.

use std::{
    collections::{BTreeMap, HashSet},
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
    housekeeping::{
        partitions::{self, ENVELOPES, first_id},
        release_envelopes,
    },
    query::{any_of::any_of, statement::Statement},
    queue::bounces,
    rows::columns,
    schema::{deliveries as d, envelopes as e, waiting_envelopes as w},
    send::stored_bytes,
};

/// Deletes up to `limit` envelopes from before `before`, oldest first, and their deliveries. Subtracts their bytes from
/// the stored bytes of the senders. Returns `limit` if more work may be left.
///
/// An expired envelope bounces: its sender gets an event. It does not bounce if it was opened, or if another outcome is
/// recorded. It must still wait for a webhook, or have a queued delivery.
///
/// On PostgreSQL, whole partitions are dropped after their bounces and bytes. Rows of other partitions are deleted.
pub(crate) fn purge_envelopes(
    conn: &mut AnyConnection,
    before: Timestamp,
    now: Timestamp,
    limit: i64,
) -> Result<usize, Fault> {
    let limit_reached = columns::number(limit, "limit")?;
    let ranges = match conn {
        AnyConnection::Postgres(pg) => {
            let partitions = partitions::list(pg, &ENVELOPES)?;
            if let Some(upper) = partitions::last_ended(&partitions, before)
                && (release_envelopes::release(conn, upper, now, limit)?
                    || release_envelopes::drop_released(conn, upper)?)
            {
                return Ok(limit_reached);
            }
            partitions::ranges_of_rows(&partitions, before)
        }
        AnyConnection::Sqlite(_) => vec![(None, before)],
    };
    let mut purged = 0;
    for (from, below) in ranges {
        let from = from.map(first_id).unwrap_or_default();
        let left = columns::number(limit_reached - purged, "limit")?;
        purged += purge_rows(conn, (&from, &first_id(below)), now, left)?;
    }
    Ok(purged)
}

/// Deletes up to `limit` envelopes with ids in a range.
fn purge_rows(
    conn: &mut AnyConnection,
    range: (&str, &str),
    now: Timestamp,
    limit: i64,
) -> Result<usize, Fault> {
    let purged = match conn {
        AnyConnection::Postgres(conn) => purge_postgres(conn, range, limit)?,
        AnyConnection::Sqlite(conn) => purge_sqlite(conn, range.1, limit)?,
    };
    // The bytes are subtracted before the bounces, because batches of sends also lock usage rows before webhooks.
    // Another order could cause a deadlock.
    stored_bytes::subtract(conn, &bytes_of_senders(&purged))?;
    bounce_expired(conn, &purged, now)?;
    Ok(purged.len())
}

/// Bounces the envelopes that were neither opened nor delivered.
pub(crate) fn bounce_expired(
    conn: &mut AnyConnection,
    purged: &[PurgedEnvelope],
    now: Timestamp,
) -> Result<(), Fault> {
    let undelivered = purged.iter().filter(|envelope| envelope.is_unopened_and_undelivered);
    let expired = undelivered.map(|envelope| Ok((envelope.read()?, BounceReason::Expired)));
    bounces::bounce(conn, &expired.collect::<Result<Vec<_>, Fault>>()?, now)
}

/// The columns of a deleted envelope that are needed for bounces and stored bytes.
#[derive(Debug, Queryable)]
pub(crate) struct PurgedEnvelope {
    id: String,
    sender: String,
    recipient: String,
    is_unopened_and_undelivered: bool,
    sealed_bytes: i64,
}

impl PurgedEnvelope {
    fn read(&self) -> Result<UnopenedEnvelope, Fault> {
        Ok(UnopenedEnvelope {
            id: columns::id(&self.id, "envelope")?,
            sender: columns::id(&self.sender, "envelope")?,
            recipient: columns::id(&self.recipient, "envelope")?,
            is_recipient_revoked: false,
            is_pending: false,
            is_exhausted: false,
        })
    }
}

/// Sums up the deleted bytes for each sender.
fn bytes_of_senders(purged: &[PurgedEnvelope]) -> Vec<(String, i64)> {
    let mut bytes = BTreeMap::<&str, i64>::new();
    for PurgedEnvelope { sender, sealed_bytes, .. } in purged {
        *bytes.entry(sender).or_default() += sealed_bytes;
    }
    bytes.into_iter().map(|(sender, bytes)| (sender.to_owned(), bytes)).collect()
}

/// Deletes envelopes, but skips those that a recipient is opening, and those with a delivery that another transaction
/// has locked. So the statement never waits, and cannot deadlock with transactions that lock deliveries before
/// envelopes. Uses arrays, because PostgreSQL may execute a join by scanning whole tables.
///
/// An envelope counts as undelivered only if a delivery was really deleted, because another transaction may have
/// removed it after a success.
fn purge_postgres(
    conn: &mut PgConnection,
    (from, below): (&str, &str),
    limit: i64,
) -> Result<Vec<PurgedEnvelope>, Fault> {
    static TEXT: LazyLock<String> = LazyLock::new(|| {
        format!(
            "WITH old AS MATERIALIZED (
                 SELECT id FROM envelopes WHERE id >= ? AND id < ? ORDER BY id LIMIT ?
             ), {DELETE_QUEUED}
             DELETE FROM envelopes WHERE id = ANY (ARRAY(SELECT id FROM free))
             RETURNING {PURGED}"
        )
    });
    Ok(Statement::<_, (Text, Text, Text, Bool, BigInt)>::query(&TEXT)
        .bind::<Text, _>(from)
        .bind::<Text, _>(below)
        .bind::<BigInt, _>(limit)
        .load(conn)?)
}

/// Deletes the deliveries and waiting rows of up to `limit` envelopes with ids below `below`, but not the envelopes.
pub(crate) fn end_deliveries(
    conn: &mut PgConnection,
    below: &str,
    limit: i64,
) -> Result<Vec<PurgedEnvelope>, Fault> {
    static TEXT: LazyLock<String> = LazyLock::new(|| {
        format!(
            "WITH old AS MATERIALIZED (
                 (SELECT envelope_id AS id FROM deliveries
                  WHERE envelope_id < ? ORDER BY envelope_id LIMIT ?)
                 UNION
                 (SELECT envelope_id FROM waiting_envelopes
                  WHERE envelope_id < ? ORDER BY envelope_id LIMIT ?)
             ), {DELETE_QUEUED}
             SELECT {PURGED} FROM envelopes WHERE id = ANY (ARRAY(SELECT id FROM free))"
        )
    });
    Ok(Statement::<_, (Text, Text, Text, Bool, BigInt)>::query(&TEXT)
        .bind::<Text, _>(below)
        .bind::<BigInt, _>(limit)
        .bind::<Text, _>(below)
        .bind::<BigInt, _>(limit)
        .load(conn)?)
}

/// Deletes the deliveries and waiting rows of the envelopes `old`, except of envelopes that another transaction uses.
const DELETE_QUEUED: &str = "queued AS MATERIALIZED (
         SELECT envelope_id FROM deliveries
         WHERE envelope_id = ANY (ARRAY(SELECT id FROM old)) FOR UPDATE SKIP LOCKED
     ), busy AS (
         SELECT envelope_id FROM deliveries
         WHERE envelope_id = ANY (ARRAY(SELECT id FROM old))
         EXCEPT ALL SELECT envelope_id FROM queued
     ), free AS MATERIALIZED (
         SELECT id FROM envelopes
         WHERE id = ANY (ARRAY(SELECT id FROM old EXCEPT SELECT envelope_id FROM busy))
         FOR UPDATE SKIP LOCKED
     ), undelivered AS (
         DELETE FROM deliveries WHERE envelope_id = ANY (ARRAY(SELECT id FROM free))
         RETURNING envelope_id
     ), waiting AS (
         DELETE FROM waiting_envelopes WHERE envelope_id = ANY (ARRAY(SELECT id FROM free))
         RETURNING envelope_id
     )";

/// The columns of [`PurgedEnvelope`].
const PURGED: &str = "id, sender, recipient,
     opened_at IS NULL AND id IN (
         SELECT envelope_id FROM undelivered UNION ALL SELECT envelope_id FROM waiting
     ),
     octet_length(sealed)::BIGINT";

fn purge_sqlite(
    conn: &mut SqliteConnection,
    below: &str,
    limit: i64,
) -> Result<Vec<PurgedEnvelope>, Fault> {
    let old = e::table.filter(e::id.lt(below)).order(e::id).limit(limit);
    let old = old.select((
        e::id,
        e::sender,
        e::recipient,
        e::opened_at.is_null(),
        sql::<BigInt>("length(sealed)"),
    ));
    let mut old: Vec<PurgedEnvelope> = old.load(conn)?;
    let ids: Vec<_> = old.iter().map(|envelope| envelope.id.clone()).collect();
    let undelivered = d::table.filter(any_of(d::event_id, &ids)).select(d::event_id).distinct();
    let mut undelivered: HashSet<String> = undelivered.load(conn)?.into_iter().collect();
    let waiting = w::table.filter(any_of(w::envelope_id, &ids)).select(w::envelope_id);
    undelivered.extend(waiting.load(conn)?);
    diesel::delete(w::table.filter(any_of(w::envelope_id, &ids))).execute(conn)?;
    for envelope in &mut old {
        envelope.is_unopened_and_undelivered &= undelivered.contains(&envelope.id);
    }
    diesel::delete(d::table.filter(any_of(d::event_id, &ids))).execute(conn)?;
    diesel::delete(e::table.filter(any_of(e::id, &ids))).execute(conn)?;
    Ok(old)
}
