//! SQLite statements that record the outcomes of attempts: in the queue, the attempt log and the health of webhooks.

use std::sync::LazyLock;

use diesel::{
    SqliteConnection,
    prelude::*,
    sql_types::{BigInt, Bool, Text},
};

use crate::{
    connection::fault::Fault,
    query::{
        row_types::{self, StoredRow},
        statement::Statement,
    },
    rows::{
        attempt::{AttemptRow, FinishedAttempt},
        delivery::{DeliveryLease, SucceededDelivery},
        webhook::HealthRow,
    },
    schema::{attempts as a, deliveries as d},
};

pub(in crate::queue::statements) fn remove_succeeded(
    conn: &mut SqliteConnection,
    attempts: &[&FinishedAttempt],
) -> Result<Vec<SucceededDelivery>, Fault> {
    let mut removed = Vec::with_capacity(attempts.len());
    for attempt in attempts {
        let DeliveryLease { key, lease } = &attempt.lease;
        let has_others = Statement::<_, Bool>::query(
            "DELETE FROM deliveries WHERE envelope_id = ? AND webhook_id = ? AND lease = ?
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
        removed.extend(has_others.map(|has_others| SucceededDelivery { lease, has_others }));
    }
    Ok(removed)
}

pub(in crate::queue::statements) fn record_failed(
    conn: &mut SqliteConnection,
    attempts: &[&FinishedAttempt],
) -> Result<Vec<DeliveryLease>, Fault> {
    let mut recorded = Vec::with_capacity(attempts.len());
    for attempt in attempts {
        let DeliveryLease { key, lease } = &attempt.lease;
        let leased = d::table.find((&key.event_id, &key.webhook_id)).filter(d::lease.eq(lease));
        let outcome = (
            d::lease.eq(None::<i64>),
            d::attempts.eq(attempt.attempts),
            d::due_at.eq(attempt.due_at),
            d::last_failure.eq(attempt.failure),
            d::failed_at.eq(Some(attempt.at)),
        );
        if diesel::update(leased).set(outcome).execute(conn)? == 1 {
            recorded.push(attempt.lease.clone());
        }
    }
    Ok(recorded)
}

pub(in crate::queue::statements) fn log_attempts(
    conn: &mut SqliteConnection,
    attempts: &[&FinishedAttempt],
) -> Result<(), Fault> {
    for attempt in attempts {
        let row = AttemptRow::from(*attempt);
        diesel::insert_into(a::table).values(&row).execute(conn)?;
    }
    Ok(())
}

pub(in crate::queue::statements) fn set_health(
    conn: &mut SqliteConnection,
    rows: &[HealthRow],
) -> Result<(), Fault> {
    static TEXT: LazyLock<String> = LazyLock::new(row_types::update_one::<HealthRow>);
    for row in rows {
        row.bind_key_last(Statement::command(&TEXT)).execute(conn)?;
    }
    Ok(())
}
