//! SQLite statements that record the outcomes of attempts: in the queue, the attempt log and the health of webhooks.
//! Also inserts events and rows of `envelope_outcomes`.

use std::{collections::BTreeSet, sync::LazyLock};

use diesel::{
    SqliteConnection,
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
        delivery::{DeliveryLease, FailedDelivery, SucceededDelivery},
        event::EventRow,
        webhook::HealthRow,
    },
    schema::{attempts as a, deliveries as d, envelope_outcomes as o, events},
};

pub(crate) fn remove_succeeded(
    conn: &mut SqliteConnection,
    attempts: &[&FinishedAttempt],
) -> Result<Vec<SucceededDelivery>, QueryError> {
    let mut removed = Vec::with_capacity(attempts.len());
    for attempt in attempts {
        let DeliveryLease { key, lease } = &attempt.lease;
        let is_left = Statement::<_, Bool>::query(
            "/* outcomes.remove_succeeded */ DELETE FROM deliveries WHERE envelope_id = ? AND webhook_id = ? AND lease = ?
                 AND redeliver_at IS NULL
             RETURNING EXISTS (
                 SELECT 1 FROM deliveries AS o
                 WHERE o.envelope_id = deliveries.envelope_id
                     AND o.webhook_id <> deliveries.webhook_id
             )",
        )
        .bind::<Text, _>(&key.event_id)
        .bind::<Text, _>(&key.webhook_id)
        .bind::<BigInt, _>(lease)
        .get_result(conn)
        .optional()?;
        let lease = attempt.lease.clone();
        removed.extend(is_left.map(|is_left| SucceededDelivery { lease, is_left }));
    }
    Ok(removed)
}

pub(crate) fn restart_succeeded(
    conn: &mut SqliteConnection,
    attempts: &[&FinishedAttempt],
) -> Result<Vec<SucceededDelivery>, QueryError> {
    let mut restarted = Vec::new();
    for FinishedAttempt { lease: DeliveryLease { key, lease }, .. } in attempts {
        let requested = d::table
            .find((&key.event_id, &key.webhook_id))
            .filter(d::lease.eq(lease))
            .filter(d::redeliver_at.is_not_null());
        let again = (
            d::lease.eq(None::<i64>),
            d::attempts.eq(0),
            d::due_at.eq(d::redeliver_at),
            d::last_failure.eq(None::<String>),
            d::failed_at.eq(None::<i64>),
        );
        if diesel::update(requested).set(again).execute(conn)? == 1 {
            let lease = DeliveryLease { key: key.clone(), lease: *lease };
            restarted.push(SucceededDelivery { lease, is_left: true });
        }
    }
    Ok(restarted)
}

pub(crate) fn record_failed(
    conn: &mut SqliteConnection,
    attempts: &[&FinishedAttempt],
) -> Result<Vec<FailedDelivery>, QueryError> {
    let mut recorded = Vec::with_capacity(attempts.len());
    for attempt in attempts {
        let DeliveryLease { key, lease } = &attempt.lease;
        let is_exhausted = Statement::<_, Bool>::query(
            "/* outcomes.record_failed */ UPDATE deliveries SET lease = NULL, due_at = coalesce(recover_at, ?),
                 attempts = CASE WHEN recover_at IS NOT NULL AND ? IS NULL THEN 0 ELSE ? END,
                 requested_at = recover_at, last_failure = ?, failed_at = ?
             WHERE envelope_id = ? AND webhook_id = ? AND lease = ?
             RETURNING due_at IS NULL",
        )
        .bind::<Nullable<BigInt>, _>(attempt.due_at)
        .bind::<Nullable<BigInt>, _>(attempt.due_at)
        .bind::<Integer, _>(attempt.attempts)
        .bind::<Nullable<Text>, _>(attempt.failure)
        .bind::<BigInt, _>(attempt.at)
        .bind::<Text, _>(&key.event_id)
        .bind::<Text, _>(&key.webhook_id)
        .bind::<BigInt, _>(lease)
        .get_result(conn)
        .optional()?;
        let lease = attempt.lease.clone();
        recorded.extend(is_exhausted.map(|is_exhausted| FailedDelivery { lease, is_exhausted }));
    }
    Ok(recorded)
}

pub(crate) fn log_attempts(
    conn: &mut SqliteConnection,
    attempts: &[&FinishedAttempt],
) -> Result<(), QueryError> {
    for attempt in attempts {
        let row = AttemptRow::from(*attempt);
        diesel::insert_into(a::table).values(&row).execute(conn)?;
    }
    Ok(())
}

pub(crate) fn set_health(
    conn: &mut SqliteConnection,
    rows: &[HealthRow],
) -> Result<(), QueryError> {
    static TEXT: LazyLock<String> = LazyLock::new(row_types::update_one::<HealthRow>);
    for row in rows {
        row.bind_key_last(Statement::command(&TEXT)).execute(conn)?;
    }
    Ok(())
}

pub(crate) fn insert_events(
    conn: &mut SqliteConnection,
    rows: &[EventRow],
) -> Result<Vec<String>, QueryError> {
    let mut inserted = Vec::with_capacity(rows.len());
    for row in rows {
        let insert = diesel::insert_into(events::table).values(row).on_conflict_do_nothing();
        if insert.execute(conn)? == 1 {
            inserted.push(row.id.clone());
        }
    }
    Ok(inserted)
}

pub(crate) fn insert_outcomes(
    conn: &mut SqliteConnection,
    envelopes: &BTreeSet<String>,
    outcome: &'static str,
    now: Timestamp,
) -> Result<Vec<String>, QueryError> {
    let mut inserted = Vec::new();
    for id in envelopes {
        let row = (o::envelope_id.eq(id), o::outcome.eq(outcome), o::at.eq(now.as_millis()));
        let insert = diesel::insert_into(o::table).values(row).on_conflict_do_nothing();
        if insert.execute(conn)? == 1 {
            inserted.push(id.clone());
        }
    }
    Ok(inserted)
}
