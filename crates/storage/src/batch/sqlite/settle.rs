//! What came of attempts: in the queue, in the log, and at the webhooks.

use diesel::{SqliteConnection, prelude::*};

use crate::{
    batch::{End, HealthRow, Held},
    fault::Fault,
    schema::{attempts as a, deliveries as d, webhooks as w},
};

pub(in crate::batch) fn remove(
    conn: &mut SqliteConnection,
    ends: &[&End],
) -> Result<Vec<Held>, Fault> {
    let mut removed = Vec::with_capacity(ends.len());
    for end in ends {
        let Held { id, lease } = &end.held;
        let held = d::table.find((&id.envelope_id, &id.webhook_id)).filter(d::lease.eq(lease));
        if diesel::delete(held).execute(conn)? == 1 {
            removed.push(end.held.clone());
        }
    }
    Ok(removed)
}

pub(in crate::batch) fn keep(
    conn: &mut SqliteConnection,
    ends: &[&End],
) -> Result<Vec<Held>, Fault> {
    let mut kept = Vec::with_capacity(ends.len());
    for end in ends {
        let Held { id, lease } = &end.held;
        let held = d::table.find((&id.envelope_id, &id.webhook_id)).filter(d::lease.eq(lease));
        let outcome = (
            d::lease.eq(None::<i64>),
            d::attempts.eq(end.attempts),
            d::due_at.eq(end.due_at),
            d::last_failure.eq(end.failure),
            d::failed_at.eq(Some(end.at)),
        );
        if diesel::update(held).set(outcome).execute(conn)? == 1 {
            kept.push(end.held.clone());
        }
    }
    Ok(kept)
}

pub(in crate::batch) fn log(conn: &mut SqliteConnection, ends: &[&End]) -> Result<(), Fault> {
    for end in ends {
        let values = (
            a::webhook_id.eq(&end.held.id.webhook_id),
            a::envelope_id.eq(&end.held.id.envelope_id),
            a::attempt.eq(end.attempts),
            a::at.eq(end.at),
            a::duration_ms.eq(end.duration_ms),
            a::outcome.eq(end.outcome),
            a::error.eq(end.failure),
            a::status_code.eq(end.status_code),
            a::excerpt.eq(end.excerpt.as_deref()),
            a::next_attempt_at.eq(end.due_at),
        );
        diesel::insert_into(a::table).values(values).execute(conn)?;
    }
    Ok(())
}

pub(in crate::batch) fn set_health(
    conn: &mut SqliteConnection,
    rows: &[HealthRow],
) -> Result<(), Fault> {
    for row in rows {
        diesel::update(w::table.find(&row.webhook_id))
            .set((
                w::status.eq(&row.status),
                w::disabled_reason.eq(&row.disabled_reason),
                w::failing_since.eq(row.failing_since),
                w::last_success_at.eq(row.last_success_at),
                w::last_failure_at.eq(row.last_failure_at),
                w::last_failure.eq(&row.last_failure),
            ))
            .execute(conn)?;
    }
    Ok(())
}
