//! One statement a batch, with an array for each column.

use diesel::{
    PgConnection,
    prelude::*,
    sql_types::{Array, BigInt, Binary, Integer, Nullable, SmallInt, Text},
};
use sealpost_domain::{Timestamp, ports::Claim};

use super::{DeliveryRow, End, EnvelopeRow, Held, Note, RowId, TakenRow, statement::Statement};
use crate::{fault::Fault, usage::UsageRow};

type Texts = Array<Text>;
type BigInts = Array<BigInt>;

pub(super) fn insert_envelopes(
    conn: &mut PgConnection,
    rows: &[EnvelopeRow<'_>],
) -> Result<(), Fault> {
    Statement::<()>::new(
        "INSERT INTO envelopes (id, sender, recipient, suite, hash, signature, sealed, payload_size_bytes, created_at)
         SELECT * FROM unnest(?, ?, ?, ?, ?, ?, ?, ?, ?)",
    )
    .bind::<Texts, _>(column(rows, |row| &*row.id))
    .bind::<Texts, _>(column(rows, |row| &*row.sender))
    .bind::<Texts, _>(column(rows, |row| &*row.recipient))
    .bind::<Array<SmallInt>, _>(column(rows, |row| row.suite))
    .bind::<Array<Binary>, _>(column(rows, |row| row.hash))
    .bind::<Array<Binary>, _>(column(rows, |row| row.signature))
    .bind::<Array<Binary>, _>(column(rows, |row| row.sealed))
    .bind::<BigInts, _>(column(rows, |row| row.payload_size_bytes))
    .bind::<BigInts, _>(column(rows, |row| row.created_at))
    .execute(conn)?;
    Ok(())
}

pub(super) fn insert_deliveries(
    conn: &mut PgConnection,
    rows: &[DeliveryRow],
) -> Result<(), Fault> {
    Statement::<()>::new(
        "INSERT INTO deliveries (envelope_id, webhook_id, attempts, due_at, lease)
         SELECT * FROM unnest(?, ?, ?, ?, ?)",
    )
    .bind::<Texts, _>(column(rows, |row| &*row.envelope_id))
    .bind::<Texts, _>(column(rows, |row| &*row.webhook_id))
    .bind::<Array<Integer>, _>(column(rows, |row| row.attempts))
    .bind::<BigInts, _>(column(rows, |row| row.due_at))
    .bind::<Array<Nullable<BigInt>>, _>(column(rows, |row| row.lease))
    .execute(conn)?;
    Ok(())
}

pub(super) fn update_usage(conn: &mut PgConnection, rows: &[UsageRow]) -> Result<(), Fault> {
    let updated = Statement::<()>::new(
        "UPDATE usage SET minute_start = n.minute_start, minute_used = n.minute_used,
             day_start = n.day_start, day_used = n.day_used,
             month_start = n.month_start, month_used = n.month_used,
             throughput_tat_us = n.throughput_tat_us
         FROM unnest(?, ?, ?, ?, ?, ?, ?, ?) AS n (api_key_id, minute_start, minute_used,
             day_start, day_used, month_start, month_used, throughput_tat_us)
         WHERE usage.api_key_id = n.api_key_id",
    )
    .bind::<Texts, _>(column(rows, |row| &*row.api_key_id))
    .bind::<BigInts, _>(column(rows, |row| row.minute_start))
    .bind::<BigInts, _>(column(rows, |row| row.minute_used))
    .bind::<BigInts, _>(column(rows, |row| row.day_start))
    .bind::<BigInts, _>(column(rows, |row| row.day_used))
    .bind::<BigInts, _>(column(rows, |row| row.month_start))
    .bind::<BigInts, _>(column(rows, |row| row.month_used))
    .bind::<BigInts, _>(column(rows, |row| row.throughput_tat_us))
    .execute(conn)?;
    if updated == rows.len() { Ok(()) } else { Err(Fault::Corrupt("usage")) }
}

/// What others are taking at the same time is passed over instead of waited for.
pub(super) fn take(
    conn: &mut PgConnection,
    claim: &Claim,
    limit: i64,
) -> Result<Vec<TakenRow>, Fault> {
    Ok(Statement::<TakenColumns>::new(
        "WITH due AS MATERIALIZED (
             SELECT envelope_id, webhook_id FROM deliveries WHERE due_at <= ?
             ORDER BY due_at LIMIT ? FOR UPDATE SKIP LOCKED
         )
         UPDATE deliveries AS d SET lease = ?, due_at = ?
         FROM due
         LEFT JOIN webhooks AS w ON w.id = due.webhook_id
         LEFT JOIN envelopes AS e ON e.id = due.envelope_id
         WHERE d.envelope_id = due.envelope_id AND d.webhook_id = due.webhook_id
         RETURNING d.envelope_id, d.webhook_id, d.attempts, w.status, w.id, w.url, w.secret,
             e.id, e.sender, e.recipient, e.suite, e.hash, e.payload_size_bytes, e.created_at",
    )
    .bind::<BigInt, _>(claim.now.as_millis())
    .bind::<BigInt, _>(limit)
    .bind::<BigInt, _>(claim.lease.0)
    .bind::<BigInt, _>(claim.lease_until.as_millis())
    .load(conn)?)
}

/// As [`TakenRow`] reads them.
type TakenColumns = (
    Text,
    Text,
    Integer,
    Nullable<(Text, (Text, Text, Binary))>,
    Nullable<(Text, Text, Text, SmallInt, Binary, BigInt, BigInt)>,
);

pub(super) fn discard(conn: &mut PgConnection, ids: &[RowId]) -> Result<(), Fault> {
    Statement::<()>::new(
        "DELETE FROM deliveries AS d USING unnest(?, ?) AS n (envelope_id, webhook_id)
         WHERE d.envelope_id = n.envelope_id AND d.webhook_id = n.webhook_id",
    )
    .bind::<Texts, _>(column(ids, |id| &*id.envelope_id))
    .bind::<Texts, _>(column(ids, |id| &*id.webhook_id))
    .execute(conn)?;
    Ok(())
}

pub(super) fn park(conn: &mut PgConnection, ids: &[RowId], due_at: Timestamp) -> Result<(), Fault> {
    Statement::<()>::new(
        "UPDATE deliveries AS d SET lease = NULL, due_at = ?
         FROM unnest(?, ?) AS n (envelope_id, webhook_id)
         WHERE d.envelope_id = n.envelope_id AND d.webhook_id = n.webhook_id",
    )
    .bind::<BigInt, _>(due_at.as_millis())
    .bind::<Texts, _>(column(ids, |id| &*id.envelope_id))
    .bind::<Texts, _>(column(ids, |id| &*id.webhook_id))
    .execute(conn)?;
    Ok(())
}

pub(super) fn remove(conn: &mut PgConnection, ends: &[&End]) -> Result<Vec<RowId>, Fault> {
    let removed = Statement::<(Text, Text)>::new(
        "DELETE FROM deliveries AS d USING unnest(?, ?, ?) AS n (envelope_id, webhook_id, lease)
         WHERE d.envelope_id = n.envelope_id AND d.webhook_id = n.webhook_id AND d.lease = n.lease
         RETURNING d.envelope_id, d.webhook_id",
    )
    .bind::<Texts, _>(column(ends, |end| &*end.held.id.envelope_id))
    .bind::<Texts, _>(column(ends, |end| &*end.held.id.webhook_id))
    .bind::<BigInts, _>(column(ends, |end| end.held.lease))
    .load(conn)?;
    Ok(removed.into_iter().map(row_id).collect())
}

pub(super) fn keep(conn: &mut PgConnection, ends: &[&End]) -> Result<Vec<RowId>, Fault> {
    let kept = Statement::<(Text, Text)>::new(
        "UPDATE deliveries AS d
         SET lease = NULL, attempts = n.attempts, due_at = n.due_at, last_failure = n.failure
         FROM unnest(?, ?, ?, ?, ?, ?)
             AS n (envelope_id, webhook_id, lease, attempts, due_at, failure)
         WHERE d.envelope_id = n.envelope_id AND d.webhook_id = n.webhook_id AND d.lease = n.lease
         RETURNING d.envelope_id, d.webhook_id",
    )
    .bind::<Texts, _>(column(ends, |end| &*end.held.id.envelope_id))
    .bind::<Texts, _>(column(ends, |end| &*end.held.id.webhook_id))
    .bind::<BigInts, _>(column(ends, |end| end.held.lease))
    .bind::<Array<Integer>, _>(column(ends, |end| end.attempts))
    .bind::<Array<Nullable<BigInt>>, _>(column(ends, |end| end.due_at))
    .bind::<Array<Nullable<Text>>, _>(column(ends, |end| end.failure))
    .load(conn)?;
    Ok(kept.into_iter().map(row_id).collect())
}

/// Two nodes may have a word for the same registrations: locked in the order of ids, they never wait in a circle.
pub(super) fn note(conn: &mut PgConnection, notes: &[Note]) -> Result<(), Fault> {
    Statement::<()>::new(
        "WITH noted AS MATERIALIZED (
             SELECT w.id, n.success_at, n.failure_at, n.failure
             FROM webhooks AS w
             JOIN unnest(?, ?, ?, ?) AS n (id, success_at, failure_at, failure) ON n.id = w.id
             ORDER BY w.id FOR NO KEY UPDATE OF w
         )
         UPDATE webhooks AS w SET
             last_success_at = greatest(w.last_success_at, noted.success_at),
             last_failure_at = greatest(w.last_failure_at, noted.failure_at),
             last_failure = CASE WHEN noted.failure_at < w.last_failure_at THEN w.last_failure
                 ELSE coalesce(noted.failure, w.last_failure) END
         FROM noted WHERE w.id = noted.id",
    )
    .bind::<Texts, _>(column(notes, |note| &*note.webhook_id))
    .bind::<Array<Nullable<BigInt>>, _>(column(notes, |note| note.success_at))
    .bind::<Array<Nullable<BigInt>>, _>(column(notes, |note| note.failure_at))
    .bind::<Array<Nullable<Text>>, _>(column(notes, |note| note.failure))
    .execute(conn)?;
    Ok(())
}

pub(super) fn release(
    conn: &mut PgConnection,
    held: &[Held],
    due_at: Timestamp,
) -> Result<(), Fault> {
    Statement::<()>::new(
        "UPDATE deliveries AS d SET lease = NULL, due_at = ?
         FROM unnest(?, ?, ?) AS n (envelope_id, webhook_id, lease)
         WHERE d.envelope_id = n.envelope_id AND d.webhook_id = n.webhook_id AND d.lease = n.lease",
    )
    .bind::<BigInt, _>(due_at.as_millis())
    .bind::<Texts, _>(column(held, |held| &*held.id.envelope_id))
    .bind::<Texts, _>(column(held, |held| &*held.id.webhook_id))
    .bind::<BigInts, _>(column(held, |held| held.lease))
    .execute(conn)?;
    Ok(())
}

fn column<'a, R, V>(rows: &'a [R], value: impl Fn(&'a R) -> V) -> Vec<V> {
    rows.iter().map(value).collect()
}

fn row_id((envelope_id, webhook_id): (String, String)) -> RowId {
    RowId { envelope_id, webhook_id }
}
