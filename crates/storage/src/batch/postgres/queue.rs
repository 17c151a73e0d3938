//! The queue: who takes what, and what is put out of the way.

use diesel::{
    PgConnection,
    prelude::*,
    sql_types::{BigInt, Binary, Integer, Nullable, Text},
};
use sealpost_domain::{Timestamp, ports::Claim};

use super::{BigInts, MetaColumns, Texts, column, row_id};
use crate::{
    batch::{Held, Move, RowId, TakenRow, statement::Statement},
    fault::Fault,
};

/// What others are taking at the same time is passed over instead of waited for.
pub(in crate::batch) fn oldest_due(
    conn: &mut PgConnection,
    now: Timestamp,
    limit: i64,
) -> Result<Vec<RowId>, Fault> {
    let due = Statement::<_, (Text, Text)>::query(
        "SELECT webhook_id, envelope_id FROM deliveries WHERE due_at <= ?
         ORDER BY due_at LIMIT ? FOR UPDATE SKIP LOCKED",
    )
    .bind::<BigInt, _>(now.as_millis())
    .bind::<BigInt, _>(limit)
    .load(conn)?;
    Ok(due.into_iter().map(row_id).collect())
}

/// From one target to the next by the index, however much waits for each.
pub(in crate::batch) fn targets_above(
    conn: &mut PgConnection,
    above: &str,
    limit: i64,
) -> Result<Vec<(String, i64)>, Fault> {
    Ok(Statement::<_, (Text, BigInt)>::query(
        "WITH RECURSIVE walk (webhook_id, due_at, step) AS (
             (SELECT webhook_id, due_at, 1::BIGINT FROM deliveries
              WHERE webhook_id > ? AND due_at IS NOT NULL ORDER BY webhook_id, due_at LIMIT 1)
             UNION ALL
             SELECT next.webhook_id, next.due_at, walk.step + 1 FROM walk CROSS JOIN LATERAL (
                 SELECT d.webhook_id, d.due_at FROM deliveries AS d
                 WHERE d.webhook_id > walk.webhook_id AND d.due_at IS NOT NULL
                 ORDER BY d.webhook_id, d.due_at LIMIT 1
             ) AS next WHERE walk.step < ?
         )
         SELECT webhook_id, due_at FROM walk ORDER BY step",
    )
    .bind::<Text, _>(above)
    .bind::<BigInt, _>(limit)
    .load(conn)?)
}

pub(in crate::batch) fn due_of(
    conn: &mut PgConnection,
    targets: &[String],
    now: Timestamp,
    limit: i64,
) -> Result<Vec<RowId>, Fault> {
    let due = Statement::<_, (Text, Text)>::query(
        "SELECT due.webhook_id, due.envelope_id FROM unnest(?) AS t (webhook_id)
         CROSS JOIN LATERAL (
             SELECT d.webhook_id, d.envelope_id FROM deliveries AS d
             WHERE d.webhook_id = t.webhook_id AND d.due_at <= ?
             ORDER BY d.due_at LIMIT ? FOR UPDATE SKIP LOCKED
         ) AS due",
    )
    .bind::<Texts, _>(column(targets, String::as_str))
    .bind::<BigInt, _>(now.as_millis())
    .bind::<BigInt, _>(limit)
    .load(conn)?;
    Ok(due.into_iter().map(row_id).collect())
}

pub(in crate::batch) fn lease(
    conn: &mut PgConnection,
    ids: &[RowId],
    claim: &Claim,
) -> Result<Vec<TakenRow>, Fault> {
    Ok(Statement::<_, TakenColumns>::query(LEASE)
        .bind::<BigInt, _>(claim.lease.0)
        .bind::<BigInt, _>(claim.lease_until.as_millis())
        .bind::<Texts, _>(column(ids, |id| &*id.webhook_id))
        .bind::<Texts, _>(column(ids, |id| &*id.envelope_id))
        .load(conn)?)
}

const LEASE: &str = "
    WITH taken AS (
        UPDATE deliveries AS d SET lease = ?, due_at = ?
        FROM unnest(?, ?) AS n (webhook_id, envelope_id)
        WHERE d.webhook_id = n.webhook_id AND d.envelope_id = n.envelope_id
        RETURNING d.envelope_id, d.webhook_id, d.attempts
    )
    SELECT t.envelope_id, t.webhook_id, t.attempts,
        w.status, w.id, w.url, w.secret, w.retiring,
        e.id, e.sender, e.recipient, e.suite, e.hash, e.payload_size_bytes, e.created_at
    FROM taken AS t
    LEFT JOIN webhooks AS w ON w.id = t.webhook_id
    LEFT JOIN envelopes AS e ON e.id = t.envelope_id";

/// As [`TakenRow`] reads them.
type TakenColumns = (
    Text,
    Text,
    Integer,
    Nullable<(Text, (Text, Text, Binary, Nullable<Binary>))>,
    Nullable<MetaColumns>,
);

pub(in crate::batch) fn discard(conn: &mut PgConnection, ids: &[RowId]) -> Result<(), Fault> {
    Statement::command(
        "DELETE FROM deliveries AS d USING unnest(?, ?) AS n (webhook_id, envelope_id)
         WHERE d.webhook_id = n.webhook_id AND d.envelope_id = n.envelope_id",
    )
    .bind::<Texts, _>(column(ids, |id| &*id.webhook_id))
    .bind::<Texts, _>(column(ids, |id| &*id.envelope_id))
    .execute(conn)?;
    Ok(())
}

pub(in crate::batch) fn park(
    conn: &mut PgConnection,
    ids: &[RowId],
    due_at: Timestamp,
) -> Result<(), Fault> {
    Statement::command(
        "UPDATE deliveries AS d SET lease = NULL, due_at = ?
         FROM unnest(?, ?) AS n (webhook_id, envelope_id)
         WHERE d.webhook_id = n.webhook_id AND d.envelope_id = n.envelope_id",
    )
    .bind::<BigInt, _>(due_at.as_millis())
    .bind::<Texts, _>(column(ids, |id| &*id.webhook_id))
    .bind::<Texts, _>(column(ids, |id| &*id.envelope_id))
    .execute(conn)?;
    Ok(())
}

pub(in crate::batch) fn release(
    conn: &mut PgConnection,
    held: &[Held],
    due_at: Timestamp,
) -> Result<(), Fault> {
    Statement::command(
        "UPDATE deliveries AS d SET lease = NULL, due_at = ?
         FROM unnest(?, ?, ?) AS n (webhook_id, envelope_id, lease)
         WHERE d.webhook_id = n.webhook_id AND d.envelope_id = n.envelope_id AND d.lease = n.lease",
    )
    .bind::<BigInt, _>(due_at.as_millis())
    .bind::<Texts, _>(column(held, |held| &*held.id.webhook_id))
    .bind::<Texts, _>(column(held, |held| &*held.id.envelope_id))
    .bind::<BigInts, _>(column(held, |held| held.lease))
    .execute(conn)?;
    Ok(())
}

pub(in crate::batch) fn expedite(conn: &mut PgConnection, moves: &[Move]) -> Result<(), Fault> {
    Statement::command(
        "UPDATE deliveries AS d SET due_at = n.due_at
         FROM unnest(?, ?, ?, ?) AS n (webhook_id, envelope_id, was_due_at, due_at)
         WHERE d.webhook_id = n.webhook_id AND d.envelope_id = n.envelope_id
             AND d.due_at = n.was_due_at AND d.lease IS NULL",
    )
    .bind::<Texts, _>(column(moves, |moved| &*moved.id.webhook_id))
    .bind::<Texts, _>(column(moves, |moved| &*moved.id.envelope_id))
    .bind::<BigInts, _>(column(moves, |moved| moved.from))
    .bind::<BigInts, _>(column(moves, |moved| moved.to))
    .execute(conn)?;
    Ok(())
}

/// What somebody is opening meanwhile stays for the next time. Arrays, because a join may be planned over whole tables.
pub(in crate::batch) fn purge_envelopes(
    conn: &mut PgConnection,
    below: &str,
    limit: i64,
) -> Result<usize, Fault> {
    Ok(Statement::command(
        "WITH old AS MATERIALIZED (
             SELECT id FROM envelopes WHERE id < ? ORDER BY id LIMIT ? FOR UPDATE SKIP LOCKED
         ), undelivered AS (
             DELETE FROM deliveries WHERE envelope_id = ANY (ARRAY(SELECT id FROM old))
         )
         DELETE FROM envelopes WHERE id = ANY (ARRAY(SELECT id FROM old))",
    )
    .bind::<Text, _>(below)
    .bind::<BigInt, _>(limit)
    .execute(conn)?)
}
