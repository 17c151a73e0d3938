//! SQLite statements for deliveries that wait until the receiver of their webhook connects to the service (relays).

use diesel::{
    SqliteConnection,
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
    conn: &mut SqliteConnection,
    targets: &[String],
    now: Timestamp,
    limit: i64,
) -> Result<Vec<DeliveryKey>, QueryError> {
    let mut all = Vec::new();
    for target in targets {
        let of_target = Statement::<_, (Text, Text)>::query(
            "/* relays.awaiting_relay */ SELECT webhook_id, envelope_id FROM deliveries
             WHERE webhook_id = ? AND lease = -1 AND due_at <= ?
             ORDER BY substr(envelope_id, 5) LIMIT ?",
        )
        .bind::<Text, _>(target)
        .bind::<BigInt, _>(now.as_millis())
        .bind::<BigInt, _>(limit);
        all.extend(of_target.load::<DeliveryKey>(conn)?);
    }
    Ok(all)
}

pub(crate) fn await_relay(
    conn: &mut SqliteConnection,
    leases: &[DeliveryLease],
    now: Timestamp,
) -> Result<(), QueryError> {
    for DeliveryLease { key, lease } in leases {
        Statement::command(
            "/* relays.await_relay */ UPDATE deliveries SET lease = -1, due_at = ?
             WHERE envelope_id = ? AND webhook_id = ? AND lease = ?",
        )
        .bind::<BigInt, _>(now.as_millis())
        .bind::<Text, _>(&key.event_id)
        .bind::<Text, _>(&key.webhook_id)
        .bind::<BigInt, _>(lease)
        .execute(conn)?;
    }
    Ok(())
}

/// Releases deliveries that wait for a relay connection, if their webhook is no longer a relay or was deleted. Visits
/// each webhook once, so that the cost does not depend on the length of the queues.
pub(crate) fn leave_relays(conn: &mut SqliteConnection, limit: i64) -> Result<usize, QueryError> {
    let left = Statement::command(
        "/* relays.leave_relays */ WITH RECURSIVE visited (webhook_id) AS (
             SELECT * FROM (SELECT webhook_id FROM deliveries WHERE lease = -1 ORDER BY webhook_id LIMIT 1)
             UNION ALL
             SELECT (SELECT d.webhook_id FROM deliveries AS d
                     WHERE d.lease = -1 AND d.webhook_id > visited.webhook_id
                     ORDER BY d.webhook_id LIMIT 1)
             FROM visited WHERE visited.webhook_id IS NOT NULL
         )
         UPDATE deliveries SET lease = NULL WHERE (envelope_id, webhook_id) IN (
             SELECT d.envelope_id, d.webhook_id FROM visited
             LEFT JOIN webhooks AS w ON w.id = visited.webhook_id
             JOIN deliveries AS d ON d.webhook_id = visited.webhook_id AND d.lease = -1
             WHERE w.url IS NOT 'relay:' LIMIT ?
         )",
    )
    .bind::<BigInt, _>(limit)
    .execute(conn)?;
    Ok(left)
}
