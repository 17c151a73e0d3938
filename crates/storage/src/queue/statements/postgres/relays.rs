//! PostgreSQL statements for deliveries that wait until the receiver of their webhook connects to the service (relays).

use diesel::{
    PgConnection,
    prelude::*,
    sql_types::{BigInt, Text},
};
use sealpost_domain::Timestamp;

use crate::{
    connection::query_error::QueryError,
    query::statement::Statement,
    rows::delivery::{DeliveryKey, DeliveryLease},
};

pub(crate) fn awaiting_relay(
    conn: &mut PgConnection,
    targets: &[String],
    now: Timestamp,
    limit: i64,
) -> Result<Vec<DeliveryKey>, QueryError> {
    Ok(Statement::<_, (Text, Text)>::query(
        "/* relays.awaiting_relay */ SELECT due.webhook_id, due.envelope_id FROM unnest(?) AS t (webhook_id)
         CROSS JOIN LATERAL (
             SELECT d.webhook_id, d.envelope_id FROM deliveries AS d
             WHERE d.webhook_id = t.webhook_id AND d.lease = -1 AND d.due_at <= ?
             ORDER BY substr(d.envelope_id, 5) LIMIT ? FOR UPDATE SKIP LOCKED
         ) AS due",
    )
    .bind_array::<Text, _>(targets.iter())
    .bind::<BigInt, _>(now.as_millis())
    .bind::<BigInt, _>(limit)
    .load(conn)?)
}

pub(crate) fn await_relay(
    conn: &mut PgConnection,
    leases: &[DeliveryLease],
    now: Timestamp,
) -> Result<(), QueryError> {
    Statement::command(
        "/* relays.await_relay */ UPDATE deliveries AS d SET lease = -1, due_at = ?
         FROM unnest(?, ?, ?) AS n (webhook_id, envelope_id, lease)
         WHERE d.envelope_id = ANY (ARRAY[n.envelope_id]) AND d.webhook_id = n.webhook_id
             AND d.lease IS NOT DISTINCT FROM n.lease",
    )
    .bind::<BigInt, _>(now.as_millis())
    .bind_array::<Text, _>(leases.iter().map(|lease| &lease.key.webhook_id))
    .bind_array::<Text, _>(leases.iter().map(|lease| &lease.key.event_id))
    .bind_array::<BigInt, _>(leases.iter().map(|lease| lease.lease))
    .execute(conn)?;
    Ok(())
}

/// Releases deliveries that wait for a relay connection, if their webhook is no longer a relay or was deleted. Visits
/// each webhook once, so that the cost does not depend on the length of the queues.
pub(crate) fn leave_relays(conn: &mut PgConnection, limit: i64) -> Result<usize, QueryError> {
    let left = Statement::command(
        "/* relays.leave_relays */ WITH RECURSIVE visited (webhook_id) AS (
             (SELECT webhook_id FROM deliveries
              WHERE lease = -1 AND webhook_id > '' ORDER BY webhook_id LIMIT 1)
             UNION ALL
             SELECT (SELECT d.webhook_id FROM deliveries AS d
                     WHERE d.lease = -1 AND d.webhook_id > visited.webhook_id
                     ORDER BY d.webhook_id LIMIT 1)
             FROM visited WHERE visited.webhook_id IS NOT NULL
         )
         UPDATE deliveries SET lease = NULL WHERE ctid = ANY (ARRAY(
             SELECT left_over.ctid FROM visited
             LEFT JOIN webhooks AS w ON w.id = ANY (ARRAY[visited.webhook_id])
             CROSS JOIN LATERAL (
                 SELECT d.ctid FROM deliveries AS d
                 WHERE d.webhook_id = visited.webhook_id AND d.lease = -1
                 LIMIT ? FOR UPDATE SKIP LOCKED
             ) AS left_over
             WHERE w.url IS DISTINCT FROM 'relay:' LIMIT ?
         ))",
    )
    .bind::<BigInt, _>(limit)
    .bind::<BigInt, _>(limit)
    .execute(conn)?;
    Ok(left)
}
