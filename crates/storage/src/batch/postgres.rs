//! One statement a batch, with an array for each column.

mod send;

use diesel::{
    PgConnection,
    prelude::*,
    sql_types::{Array, BigInt, Binary, Integer, Nullable, SmallInt, Text},
};
use sealpost_domain::{Timestamp, ports::Claim};

pub(super) use self::send::{add_overages, forget_stale, open_channels, recall, remember, store};
use super::{End, Held, Note, RowId, TakenRow, statement::Statement};
use crate::fault::Fault;

type Texts = Array<Text>;
type BigInts = Array<BigInt>;

/// As [`MetaRow`](crate::envelope::MetaRow) reads them.
type MetaColumns = (Text, Text, Text, SmallInt, Binary, BigInt, BigInt);

/// What others are taking at the same time is passed over instead of waited for.
pub(super) fn take(
    conn: &mut PgConnection,
    claim: &Claim,
    limit: i64,
) -> Result<Vec<TakenRow>, Fault> {
    Ok(Statement::<_, TakenColumns>::query(TAKE)
        .bind::<BigInt, _>(claim.now.as_millis())
        .bind::<BigInt, _>(limit)
        .bind::<BigInt, _>(claim.lease.0)
        .bind::<BigInt, _>(claim.lease_until.as_millis())
        .load(conn)?)
}

/// A plan that is kept knows no limit and expects a tenth of the queue. Joined to that, it would read the whole queue
/// (98 ms for 256 of 200,000, measured); of an array it expects a few rows, and finds each by its key (4 ms).
const TAKE: &str = "
    WITH due AS MATERIALIZED (
        SELECT envelope_id, webhook_id FROM deliveries WHERE due_at <= ?
        ORDER BY due_at LIMIT ? FOR UPDATE SKIP LOCKED
    ), taken AS (
        UPDATE deliveries SET lease = ?, due_at = ?
        WHERE envelope_id = ANY (ARRAY(SELECT envelope_id FROM due))
            AND (envelope_id, webhook_id) IN (SELECT envelope_id, webhook_id FROM due)
        RETURNING envelope_id, webhook_id, attempts
    )
    SELECT t.envelope_id, t.webhook_id, t.attempts, w.status, w.id, w.url, w.secret,
        e.id, e.sender, e.recipient, e.suite, e.hash, e.payload_size_bytes, e.created_at
    FROM taken AS t
    LEFT JOIN webhooks AS w ON w.id = t.webhook_id
    LEFT JOIN envelopes AS e ON e.id = t.envelope_id";

/// As [`TakenRow`] reads them.
type TakenColumns =
    (Text, Text, Integer, Nullable<(Text, (Text, Text, Binary))>, Nullable<MetaColumns>);

pub(super) fn discard(conn: &mut PgConnection, ids: &[RowId]) -> Result<(), Fault> {
    Statement::command(
        "DELETE FROM deliveries AS d USING unnest(?, ?) AS n (envelope_id, webhook_id)
         WHERE d.envelope_id = n.envelope_id AND d.webhook_id = n.webhook_id",
    )
    .bind::<Texts, _>(column(ids, |id| &*id.envelope_id))
    .bind::<Texts, _>(column(ids, |id| &*id.webhook_id))
    .execute(conn)?;
    Ok(())
}

pub(super) fn park(conn: &mut PgConnection, ids: &[RowId], due_at: Timestamp) -> Result<(), Fault> {
    Statement::command(
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
    let removed = Statement::<_, (Text, Text)>::query(
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
    let kept = Statement::<_, (Text, Text)>::query(
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
    Statement::command(
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
    Statement::command(
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

/// What somebody is opening meanwhile stays for the next time. Arrays, because a join may be planned over whole tables.
pub(super) fn purge_envelopes(
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

fn column<'a, R, V>(rows: &'a [R], value: impl Fn(&'a R) -> V) -> Vec<V> {
    rows.iter().map(value).collect()
}

fn row_id((envelope_id, webhook_id): (String, String)) -> RowId {
    RowId { envelope_id, webhook_id }
}
