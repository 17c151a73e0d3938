//! PostgreSQL statements that record the outcomes of attempts: in the queue, the attempt log and the health of
//! webhooks. Also inserts events and rows of `envelope_outcomes`.

use std::{collections::BTreeSet, sync::LazyLock};

use diesel::{
    PgConnection,
    prelude::*,
    sql_types::{BigInt, Bool, Integer, Nullable, Text},
};
use sealpost_domain::Timestamp;

use crate::{
    connection::query_error::QueryError,
    query::{
        row_types::{self, StoredRow},
        statement::Statement,
    },
    rows::{
        attempt::{AttemptRow, FinishedAttempt},
        delivery::{FailedDelivery, SucceededDelivery},
        event::EventRow,
        webhook::HealthRow,
    },
};

pub(crate) fn remove_succeeded(
    conn: &mut PgConnection,
    attempts: &[&FinishedAttempt],
) -> Result<Vec<SucceededDelivery>, QueryError> {
    Ok(Statement::<_, (LeaseColumns, Bool)>::query(
        "/* outcomes.remove_succeeded */ DELETE FROM deliveries AS d USING (
             SELECT unnest(?) AS webhook_id, unnest(?) AS envelope_id, unnest(?) AS lease
         ) AS n
         WHERE d.envelope_id = ANY (ARRAY[n.envelope_id]) AND d.webhook_id = n.webhook_id
             AND d.lease IS NOT DISTINCT FROM n.lease AND d.redeliver_at IS NULL
         RETURNING d.webhook_id, d.envelope_id, n.lease, EXISTS (
             SELECT FROM deliveries AS o
             WHERE o.envelope_id = d.envelope_id AND o.webhook_id <> d.webhook_id
         )",
    )
    .bind_array::<Text, _>(attempts.iter().map(|attempt| &attempt.lease.key.webhook_id))
    .bind_array::<Text, _>(attempts.iter().map(|attempt| &attempt.lease.key.event_id))
    .bind_array::<BigInt, _>(attempts.iter().map(|attempt| attempt.lease.lease))
    .load(conn)?)
}

pub(crate) fn restart_succeeded(
    conn: &mut PgConnection,
    attempts: &[&FinishedAttempt],
) -> Result<Vec<SucceededDelivery>, QueryError> {
    let restarted = Statement::<_, LeaseColumns>::query(
        "/* outcomes.restart_succeeded */ UPDATE deliveries AS d SET lease = NULL, attempts = 0, due_at = d.redeliver_at,
             last_failure = NULL, failed_at = NULL
         FROM unnest(?, ?, ?) AS n (webhook_id, envelope_id, lease)
         WHERE d.envelope_id = ANY (ARRAY[n.envelope_id]) AND d.webhook_id = n.webhook_id
             AND d.lease IS NOT DISTINCT FROM n.lease AND d.redeliver_at IS NOT NULL
         RETURNING d.webhook_id, d.envelope_id, n.lease",
    )
    .bind_array::<Text, _>(attempts.iter().map(|attempt| &attempt.lease.key.webhook_id))
    .bind_array::<Text, _>(attempts.iter().map(|attempt| &attempt.lease.key.event_id))
    .bind_array::<BigInt, _>(attempts.iter().map(|attempt| attempt.lease.lease))
    .load(conn)?;
    let succeeded = |lease| SucceededDelivery { lease, is_left: true };
    Ok(restarted.into_iter().map(succeeded).collect())
}

pub(crate) fn record_failed(
    conn: &mut PgConnection,
    attempts: &[&FinishedAttempt],
) -> Result<Vec<FailedDelivery>, QueryError> {
    Ok(Statement::<_, (LeaseColumns, Bool)>::query(
        "/* outcomes.record_failed */ UPDATE deliveries AS d SET lease = NULL, due_at = coalesce(d.recover_at, n.due_at),
             attempts = CASE WHEN d.recover_at IS NOT NULL AND n.due_at IS NULL THEN 0 ELSE n.attempts END,
             requested_at = d.recover_at, last_failure = n.failure, failed_at = n.at
         FROM unnest(?, ?, ?, ?, ?, ?, ?)
             AS n (webhook_id, envelope_id, lease, attempts, due_at, failure, at)
         WHERE d.envelope_id = ANY (ARRAY[n.envelope_id]) AND d.webhook_id = n.webhook_id
             AND d.lease IS NOT DISTINCT FROM n.lease
         RETURNING d.webhook_id, d.envelope_id, n.lease, d.due_at IS NULL",
    )
    .bind_array::<Text, _>(attempts.iter().map(|attempt| &attempt.lease.key.webhook_id))
    .bind_array::<Text, _>(attempts.iter().map(|attempt| &attempt.lease.key.event_id))
    .bind_array::<BigInt, _>(attempts.iter().map(|attempt| attempt.lease.lease))
    .bind_array::<Integer, _>(attempts.iter().map(|attempt| attempt.attempts))
    .bind_array::<Nullable<BigInt>, _>(attempts.iter().map(|attempt| attempt.due_at))
    .bind_array::<Nullable<Text>, _>(attempts.iter().map(|attempt| attempt.failure))
    .bind_array::<BigInt, _>(attempts.iter().map(|attempt| attempt.at))
    .load(conn)?)
}

pub(crate) fn log_attempts(
    conn: &mut PgConnection,
    attempts: &[&FinishedAttempt],
) -> Result<(), QueryError> {
    static TEXT: LazyLock<String> = LazyLock::new(row_types::insert_all::<AttemptRow<'_>>);
    let rows: Vec<_> = attempts.iter().map(|attempt| AttemptRow::from(*attempt)).collect();
    AttemptRow::bind_arrays(&rows, Statement::command(&TEXT)).execute(conn)?;
    Ok(())
}

pub(crate) fn set_health(conn: &mut PgConnection, rows: &[HealthRow]) -> Result<(), QueryError> {
    static TEXT: LazyLock<String> = LazyLock::new(row_types::update_all::<HealthRow>);
    HealthRow::bind_arrays(rows, Statement::command(&TEXT)).execute(conn)?;
    Ok(())
}

pub(crate) fn insert_events(
    conn: &mut PgConnection,
    rows: &[EventRow],
) -> Result<Vec<String>, QueryError> {
    static TEXT: LazyLock<String> = LazyLock::new(|| {
        row_types::insert_all::<EventRow>() + " ON CONFLICT (id) DO NOTHING RETURNING id"
    });
    Ok(EventRow::bind_arrays(rows, Statement::<_, Text>::query(&TEXT)).load(conn)?)
}

pub(crate) fn insert_outcomes(
    conn: &mut PgConnection,
    envelopes: &BTreeSet<String>,
    outcome: &'static str,
    now: Timestamp,
) -> Result<Vec<String>, QueryError> {
    Ok(Statement::<_, Text>::query(
        "/* events.insert_outcomes */ INSERT INTO envelope_outcomes (envelope_id, outcome, at) SELECT unnest(?), ?, ?
         ON CONFLICT (envelope_id) DO NOTHING RETURNING envelope_id",
    )
    .bind_array::<Text, _>(envelopes.iter())
    .bind::<Text, _>(outcome)
    .bind::<BigInt, _>(now.as_millis())
    .load(conn)?)
}

/// The SQL types of the columns of a [`DeliveryLease`](crate::rows::delivery::DeliveryLease).
type LeaseColumns = ((Text, Text), BigInt);
