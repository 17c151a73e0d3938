//! What came of attempts: in the queue, in the log, and at the webhooks.

use diesel::{
    PgConnection,
    prelude::*,
    sql_types::{Array, BigInt, Integer, Nullable, Text},
};

use super::{BigInts, Texts, column};
use crate::{
    batch::{End, HealthRow, Held, RowId, statement::Statement},
    fault::Fault,
};

pub(in crate::batch) fn remove(conn: &mut PgConnection, ends: &[&End]) -> Result<Vec<Held>, Fault> {
    let removed = Statement::<_, (Text, Text, BigInt)>::query(
        "DELETE FROM deliveries AS d USING (
             SELECT unnest(?) AS webhook_id, unnest(?) AS envelope_id, unnest(?) AS lease
         ) AS n
         WHERE d.webhook_id = n.webhook_id AND d.envelope_id = n.envelope_id AND d.lease = n.lease
         RETURNING d.webhook_id, d.envelope_id, n.lease",
    )
    .bind::<Texts, _>(column(ends, |end| &*end.held.id.webhook_id))
    .bind::<Texts, _>(column(ends, |end| &*end.held.id.envelope_id))
    .bind::<BigInts, _>(column(ends, |end| end.held.lease))
    .load(conn)?;
    Ok(removed.into_iter().map(held).collect())
}

pub(in crate::batch) fn keep(conn: &mut PgConnection, ends: &[&End]) -> Result<Vec<Held>, Fault> {
    let kept = Statement::<_, (Text, Text, BigInt)>::query(
        "UPDATE deliveries AS d SET lease = NULL, attempts = n.attempts, due_at = n.due_at,
             last_failure = n.failure, failed_at = n.at
         FROM unnest(?, ?, ?, ?, ?, ?, ?)
             AS n (webhook_id, envelope_id, lease, attempts, due_at, failure, at)
         WHERE d.webhook_id = n.webhook_id AND d.envelope_id = n.envelope_id AND d.lease = n.lease
         RETURNING d.webhook_id, d.envelope_id, n.lease",
    )
    .bind::<Texts, _>(column(ends, |end| &*end.held.id.webhook_id))
    .bind::<Texts, _>(column(ends, |end| &*end.held.id.envelope_id))
    .bind::<BigInts, _>(column(ends, |end| end.held.lease))
    .bind::<Array<Integer>, _>(column(ends, |end| end.attempts))
    .bind::<Array<Nullable<BigInt>>, _>(column(ends, |end| end.due_at))
    .bind::<Array<Nullable<Text>>, _>(column(ends, |end| end.failure))
    .bind::<BigInts, _>(column(ends, |end| end.at))
    .load(conn)?;
    Ok(kept.into_iter().map(held).collect())
}

pub(in crate::batch) fn log(conn: &mut PgConnection, ends: &[&End]) -> Result<(), Fault> {
    Statement::command(
        "INSERT INTO attempts (webhook_id, envelope_id, attempt, at, duration_ms, outcome,
             error, status_code, excerpt, next_attempt_at)
         SELECT unnest(?), unnest(?), unnest(?), unnest(?), unnest(?), unnest(?), unnest(?),
             unnest(?), unnest(?), unnest(?)",
    )
    .bind::<Texts, _>(column(ends, |end| &*end.held.id.webhook_id))
    .bind::<Texts, _>(column(ends, |end| &*end.held.id.envelope_id))
    .bind::<Array<Integer>, _>(column(ends, |end| end.attempts))
    .bind::<BigInts, _>(column(ends, |end| end.at))
    .bind::<Array<Integer>, _>(column(ends, |end| end.duration_ms))
    .bind::<Texts, _>(column(ends, |end| end.outcome))
    .bind::<Array<Nullable<Text>>, _>(column(ends, |end| end.failure))
    .bind::<Array<Nullable<Integer>>, _>(column(ends, |end| end.status_code))
    .bind::<Array<Nullable<Text>>, _>(column(ends, |end| end.excerpt.as_deref()))
    .bind::<Array<Nullable<BigInt>>, _>(column(ends, |end| end.due_at))
    .execute(conn)?;
    Ok(())
}

pub(in crate::batch) fn set_health(
    conn: &mut PgConnection,
    rows: &[HealthRow],
) -> Result<(), Fault> {
    Statement::command(
        "UPDATE webhooks AS w SET status = n.status, disabled_reason = n.disabled_reason,
             failing_since = n.failing_since, last_success_at = n.last_success_at,
             last_failure_at = n.last_failure_at, last_failure = n.last_failure
         FROM unnest(?, ?, ?, ?, ?, ?, ?) AS n (id, status, disabled_reason, failing_since,
             last_success_at, last_failure_at, last_failure)
         WHERE w.id = n.id",
    )
    .bind::<Texts, _>(column(rows, |row| &*row.webhook_id))
    .bind::<Texts, _>(column(rows, |row| &*row.status))
    .bind::<Array<Nullable<Text>>, _>(column(rows, |row| row.disabled_reason.as_deref()))
    .bind::<Array<Nullable<BigInt>>, _>(column(rows, |row| row.failing_since))
    .bind::<Array<Nullable<BigInt>>, _>(column(rows, |row| row.last_success_at))
    .bind::<Array<Nullable<BigInt>>, _>(column(rows, |row| row.last_failure_at))
    .bind::<Array<Nullable<Text>>, _>(column(rows, |row| row.last_failure.as_deref()))
    .execute(conn)?;
    Ok(())
}

fn held((webhook_id, envelope_id, lease): (String, String, i64)) -> Held {
    Held { id: RowId { webhook_id, envelope_id }, lease }
}
