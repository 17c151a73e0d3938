//! PostgreSQL statements that find due deliveries, lease them, and change or end leases.

use std::{ops::RangeInclusive, sync::LazyLock};

use diesel::{
    PgConnection,
    dsl::SqlTypeOf,
    prelude::*,
    sql_types::{BigInt, Binary, Integer, Nullable, Text},
};
use sealpost_domain::{
    Timestamp,
    ports::{Claim, ExpeditedDelivery},
};

use crate::{
    connection::query_error::QueryError,
    query::{row_types::SelectedRow, statement::Statement},
    rows::{
        delivery::{ClaimedRow, DeliveryKey, DeliveryLease},
        envelope::MetaRow,
        webhook::TargetRow,
    },
};

/// Finds and locks due deliveries, earliest due time first. Skips rows that another claim has locked, and deliveries to
/// the webhooks in `full`. If `full` is not empty, skipped rows count against `limit`, so fewer rows may be returned.
pub(crate) fn oldest_due(
    conn: &mut PgConnection,
    due: &RangeInclusive<i64>,
    limit: i64,
    full: &[String],
) -> Result<Vec<DeliveryKey>, QueryError> {
    if !full.is_empty() {
        return oldest_due_except(conn, due, limit, full);
    }
    Ok(Statement::<_, (Text, Text)>::query(
        "/* claims.oldest_due */ SELECT webhook_id, envelope_id FROM deliveries
         WHERE lease IS NULL AND due_at >= ? AND due_at <= ?
         ORDER BY due_at LIMIT ? FOR UPDATE SKIP LOCKED",
    )
    .bind::<BigInt, _>(*due.start())
    .bind::<BigInt, _>(*due.end())
    .bind::<BigInt, _>(limit)
    .load(conn)?)
}

/// Finds the first `limit` due deliveries, and locks and returns those of webhooks not in `full`. The other rows stay
/// unlocked, because each row lock is a write.
fn oldest_due_except(
    conn: &mut PgConnection,
    due: &RangeInclusive<i64>,
    limit: i64,
    full: &[String],
) -> Result<Vec<DeliveryKey>, QueryError> {
    Ok(Statement::<_, (Text, Text)>::query(
        "/* claims.oldest_due_except */ WITH oldest AS MATERIALIZED (
             SELECT webhook_id, envelope_id FROM deliveries
             WHERE lease IS NULL AND due_at >= ? AND due_at <= ?
             ORDER BY due_at LIMIT ?
         )
         SELECT d.webhook_id, d.envelope_id FROM oldest AS o
         JOIN deliveries AS d
             ON d.envelope_id = ANY (ARRAY[o.envelope_id]) AND d.webhook_id = o.webhook_id
         WHERE o.webhook_id <> ALL (?) AND d.lease IS NULL AND d.due_at <= ?
         ORDER BY d.due_at FOR UPDATE OF d SKIP LOCKED",
    )
    .bind::<BigInt, _>(*due.start())
    .bind::<BigInt, _>(*due.end())
    .bind::<BigInt, _>(limit)
    .bind_array::<Text, _>(full.iter())
    .bind::<BigInt, _>(*due.end())
    .load(conn)?)
}

/// Finds the webhooks after the id `above`, with one index look-up per webhook, so that the cost does not depend on the
/// length of the queues.
pub(crate) fn targets_above(
    conn: &mut PgConnection,
    above: &str,
    due_from: i64,
    limit: i64,
) -> Result<Vec<(String, i64)>, QueryError> {
    Ok(Statement::<_, (Text, BigInt)>::query(
        "/* claims.targets_above */ WITH RECURSIVE visited (webhook_id, due_at, step) AS (
             (SELECT webhook_id, due_at, 1::BIGINT FROM deliveries
              WHERE webhook_id > ? AND lease IS NULL AND due_at >= ?
              ORDER BY webhook_id, due_at LIMIT 1)
             UNION ALL
             SELECT next.webhook_id, next.due_at, visited.step + 1 FROM visited CROSS JOIN LATERAL (
                 SELECT d.webhook_id, d.due_at FROM deliveries AS d
                 WHERE d.webhook_id > visited.webhook_id AND d.lease IS NULL AND d.due_at >= ?
                 ORDER BY d.webhook_id, d.due_at LIMIT 1
             ) AS next WHERE visited.step < ?
         )
         SELECT webhook_id, due_at FROM visited ORDER BY step",
    )
    .bind::<Text, _>(above)
    .bind::<BigInt, _>(due_from)
    .bind::<BigInt, _>(due_from)
    .bind::<BigInt, _>(limit)
    .load(conn)?)
}

pub(crate) fn due_of(
    conn: &mut PgConnection,
    targets: &[String],
    due: &RangeInclusive<i64>,
    limit: i64,
) -> Result<Vec<DeliveryKey>, QueryError> {
    Ok(Statement::<_, (Text, Text)>::query(
        "/* claims.due_of */ SELECT due.webhook_id, due.envelope_id FROM unnest(?) AS t (webhook_id)
         CROSS JOIN LATERAL (
             SELECT d.webhook_id, d.envelope_id FROM deliveries AS d
             WHERE d.webhook_id = t.webhook_id AND d.lease IS NULL
                 AND d.due_at >= ? AND d.due_at <= ?
             ORDER BY d.due_at LIMIT ? FOR UPDATE SKIP LOCKED
         ) AS due",
    )
    .bind_array::<Text, _>(targets.iter())
    .bind::<BigInt, _>(*due.start())
    .bind::<BigInt, _>(*due.end())
    .bind::<BigInt, _>(limit)
    .load(conn)?)
}

pub(crate) fn end_leases(
    conn: &mut PgConnection,
    ends: &RangeInclusive<i64>,
    limit: i64,
) -> Result<(), QueryError> {
    Statement::command(
        "/* claims.end_leases */ UPDATE deliveries SET lease = NULL WHERE ctid = ANY (ARRAY(
             SELECT ctid FROM deliveries WHERE lease <> -1 AND due_at >= ? AND due_at <= ?
             ORDER BY due_at LIMIT ? FOR UPDATE SKIP LOCKED
         ))",
    )
    .bind::<BigInt, _>(*ends.start())
    .bind::<BigInt, _>(*ends.end())
    .bind::<BigInt, _>(limit)
    .execute(conn)?;
    Ok(())
}

pub(crate) fn lease(
    conn: &mut PgConnection,
    keys: &[DeliveryKey],
    claim: &Claim,
) -> Result<Vec<ClaimedRow>, QueryError> {
    Ok(Statement::<_, ClaimedColumns>::query(&LEASE)
        .bind::<BigInt, _>(claim.lease.0)
        .bind::<BigInt, _>(claim.lease_until.as_millis())
        .bind_array::<Text, _>(keys.iter().map(|key| &key.webhook_id))
        .bind_array::<Text, _>(keys.iter().map(|key| &key.event_id))
        .load(conn)?)
}

static LEASE: LazyLock<String> = LazyLock::new(|| {
    format!(
        "/* claims.lease */ WITH leased AS (
             UPDATE deliveries AS d SET lease = ?, due_at = ?,
                 redeliver_at = NULL, recover_at = NULL, requested_at = coalesce(d.recover_at, d.requested_at)
             FROM unnest(?, ?) AS n (webhook_id, envelope_id)
             WHERE d.envelope_id = ANY (ARRAY[n.envelope_id]) AND d.webhook_id = n.webhook_id
             RETURNING d.envelope_id, d.webhook_id,
                 greatest(d.attempts - num_nonnulls(d.requested_at), 0) AS attempts, d.requested_at
         )
         SELECT l.envelope_id, l.webhook_id, l.attempts, l.requested_at, w.status, k.account_id, {}, {},
             (SELECT h.handle FROM handles AS h WHERE h.api_key_id = e.sender LIMIT 1)
         FROM leased AS l
         LEFT JOIN webhooks AS w ON w.id = ANY (ARRAY[l.webhook_id])
         LEFT JOIN api_keys AS k ON k.id = ANY (ARRAY[w.api_key_id])
         LEFT JOIN envelopes AS e ON e.id = ANY (ARRAY[l.envelope_id])",
        TargetRow::list("w"),
        MetaRow::list_with_hash("e")
    )
});

/// The SQL types of the columns of [`ClaimedRow`].
type ClaimedColumns = (
    Text,
    Text,
    Integer,
    Nullable<BigInt>,
    Nullable<(Text, Text, SqlTypeOf<<TargetRow as SelectedRow>::Selection>)>,
    Nullable<(SqlTypeOf<<MetaRow as SelectedRow>::Selection>, Binary)>,
    Nullable<Text>,
);

/// Locks deliveries in the order of the sorted array elements. With a sort by columns of the table, PostgreSQL could
/// read the whole primary key in its order: see [`Statement`].
pub(crate) fn lock(conn: &mut PgConnection, keys: &[DeliveryKey]) -> Result<(), QueryError> {
    Statement::command(
        "/* claims.lock */ SELECT FROM unnest(?, ?) AS n (webhook_id, envelope_id)
         JOIN deliveries AS d
             ON d.envelope_id = ANY (ARRAY[n.envelope_id]) AND d.webhook_id = n.webhook_id
         ORDER BY n.envelope_id COLLATE \"C\", n.webhook_id COLLATE \"C\" FOR UPDATE OF d",
    )
    .bind_array::<Text, _>(keys.iter().map(|key| &key.webhook_id))
    .bind_array::<Text, _>(keys.iter().map(|key| &key.event_id))
    .execute(conn)?;
    Ok(())
}

pub(crate) fn delete(
    conn: &mut PgConnection,
    keys: &[DeliveryKey],
) -> Result<Vec<DeliveryKey>, QueryError> {
    Ok(Statement::<_, (Text, Text)>::query(
        "/* claims.delete */ DELETE FROM deliveries AS d USING unnest(?, ?) AS n (webhook_id, envelope_id)
         WHERE d.envelope_id = ANY (ARRAY[n.envelope_id]) AND d.webhook_id = n.webhook_id
         RETURNING d.webhook_id, d.envelope_id",
    )
    .bind_array::<Text, _>(keys.iter().map(|key| &key.webhook_id))
    .bind_array::<Text, _>(keys.iter().map(|key| &key.event_id))
    .load(conn)?)
}

pub(crate) fn park(
    conn: &mut PgConnection,
    keys: &[DeliveryKey],
    due_at: Timestamp,
) -> Result<(), QueryError> {
    Statement::command(
        "/* claims.park */ UPDATE deliveries AS d SET lease = NULL, due_at = ?
         FROM unnest(?, ?) AS n (webhook_id, envelope_id)
         WHERE d.envelope_id = ANY (ARRAY[n.envelope_id]) AND d.webhook_id = n.webhook_id",
    )
    .bind::<BigInt, _>(due_at.as_millis())
    .bind_array::<Text, _>(keys.iter().map(|key| &key.webhook_id))
    .bind_array::<Text, _>(keys.iter().map(|key| &key.event_id))
    .execute(conn)?;
    Ok(())
}

pub(crate) fn release(
    conn: &mut PgConnection,
    leases: &[DeliveryLease],
    due_at: Timestamp,
) -> Result<(), QueryError> {
    Statement::command(
        "/* claims.release */ UPDATE deliveries AS d SET lease = NULL, due_at = least(d.recover_at, ?)
         FROM unnest(?, ?, ?) AS n (webhook_id, envelope_id, lease)
         WHERE d.envelope_id = ANY (ARRAY[n.envelope_id]) AND d.webhook_id = n.webhook_id
             AND d.lease IS NOT DISTINCT FROM n.lease",
    )
    .bind::<BigInt, _>(due_at.as_millis())
    .bind_array::<Text, _>(leases.iter().map(|lease| &lease.key.webhook_id))
    .bind_array::<Text, _>(leases.iter().map(|lease| &lease.key.event_id))
    .bind_array::<BigInt, _>(leases.iter().map(|lease| lease.lease))
    .execute(conn)?;
    Ok(())
}

pub(crate) fn expedite(
    conn: &mut PgConnection,
    changes: &[ExpeditedDelivery],
) -> Result<(), QueryError> {
    Statement::command(
        "/* claims.expedite */ UPDATE deliveries AS d SET due_at = n.due_at
         FROM unnest(?, ?, ?, ?) AS n (webhook_id, envelope_id, was_due_at, due_at)
         WHERE d.envelope_id = ANY (ARRAY[n.envelope_id]) AND d.webhook_id = n.webhook_id
             AND d.due_at IS NOT DISTINCT FROM n.was_due_at AND d.lease IS NULL",
    )
    .bind_array::<Text, _>(changes.iter().map(|change| change.id.webhook_id.to_string()))
    .bind_array::<Text, _>(changes.iter().map(|change| change.id.event_id.to_string()))
    .bind_array::<BigInt, _>(changes.iter().map(|change| change.from.as_millis()))
    .bind_array::<BigInt, _>(changes.iter().map(|change| change.to.as_millis()))
    .execute(conn)?;
    Ok(())
}
