//! The queue: who takes what, and what is put out of the way.

use diesel::{
    SqliteConnection,
    prelude::*,
    sql_types::{BigInt, Text},
};
use sealpost_domain::{Timestamp, ports::Claim};

use crate::{
    batch::{Held, RowId, TakenRow, statement::Statement},
    envelope,
    fault::Fault,
    schema::{deliveries as d, envelopes as e, webhooks as w},
    webhook,
};

pub(in crate::batch) fn oldest_due(
    conn: &mut SqliteConnection,
    now: Timestamp,
    limit: i64,
) -> Result<Vec<RowId>, Fault> {
    let due = d::table
        .filter(d::due_at.le(now.as_millis()))
        .order(d::due_at)
        .limit(limit)
        .select((d::webhook_id, d::envelope_id))
        .load(conn)?;
    Ok(due.into_iter().map(row_id).collect())
}

pub(in crate::batch) fn targets_above(
    conn: &mut SqliteConnection,
    above: &str,
    limit: i64,
) -> Result<Vec<(String, i64)>, Fault> {
    let mut targets = Vec::<(String, i64)>::new();
    for _ in 0..limit {
        let above = targets.last().map_or(above, |(id, _)| id);
        let next = d::table
            .filter(d::webhook_id.gt(above))
            .filter(d::due_at.is_not_null())
            .order((d::webhook_id, d::due_at))
            .select((d::webhook_id, d::due_at.assume_not_null()))
            .first(conn)
            .optional()?;
        let Some(next) = next else { break };
        targets.push(next);
    }
    Ok(targets)
}

pub(in crate::batch) fn due_of(
    conn: &mut SqliteConnection,
    targets: &[String],
    now: Timestamp,
    limit: i64,
) -> Result<Vec<RowId>, Fault> {
    let mut all = Vec::new();
    for target in targets {
        let due = d::table
            .filter(d::webhook_id.eq(target))
            .filter(d::due_at.le(now.as_millis()))
            .order(d::due_at)
            .limit(limit)
            .select((d::webhook_id, d::envelope_id))
            .load(conn)?;
        all.extend(due.into_iter().map(row_id));
    }
    Ok(all)
}

pub(in crate::batch) fn lease(
    conn: &mut SqliteConnection,
    ids: &[RowId],
    claim: &Claim,
) -> Result<Vec<TakenRow>, Fault> {
    let mut taken = Vec::with_capacity(ids.len());
    for id in ids {
        Statement::command(
            "UPDATE deliveries SET lease = ?, due_at = ? WHERE webhook_id = ? AND envelope_id = ?",
        )
        .bind::<BigInt, _>(claim.lease.0)
        .bind::<BigInt, _>(claim.lease_until.as_millis())
        .bind::<Text, _>(&id.webhook_id)
        .bind::<Text, _>(&id.envelope_id)
        .execute(conn)?;
        let row = d::table
            .find((&id.webhook_id, &id.envelope_id))
            .left_join(w::table)
            .left_join(e::table)
            .select((
                d::envelope_id,
                d::webhook_id,
                d::attempts,
                (w::status, webhook::TARGET).nullable(),
                envelope::META.nullable(),
            ))
            .first(conn)?;
        taken.push(row);
    }
    Ok(taken)
}

pub(in crate::batch) fn discard(conn: &mut SqliteConnection, ids: &[RowId]) -> Result<(), Fault> {
    for id in ids {
        diesel::delete(d::table.find((&id.webhook_id, &id.envelope_id))).execute(conn)?;
    }
    Ok(())
}

pub(in crate::batch) fn park(
    conn: &mut SqliteConnection,
    ids: &[RowId],
    due_at: Timestamp,
) -> Result<(), Fault> {
    for id in ids {
        diesel::update(d::table.find((&id.webhook_id, &id.envelope_id)))
            .set((d::lease.eq(None::<i64>), d::due_at.eq(Some(due_at.as_millis()))))
            .execute(conn)?;
    }
    Ok(())
}

pub(in crate::batch) fn release(
    conn: &mut SqliteConnection,
    held: &[Held],
    due_at: Timestamp,
) -> Result<(), Fault> {
    for Held { id, lease } in held {
        let held = d::table.find((&id.webhook_id, &id.envelope_id)).filter(d::lease.eq(lease));
        diesel::update(held)
            .set((d::lease.eq(None::<i64>), d::due_at.eq(Some(due_at.as_millis()))))
            .execute(conn)?;
    }
    Ok(())
}

/// Deliveries are found by the registrations of those that the envelopes were sent to.
pub(in crate::batch) fn purge_envelopes(
    conn: &mut SqliteConnection,
    below: &str,
    limit: i64,
) -> Result<usize, Fault> {
    let old: Vec<(String, String)> = e::table
        .filter(e::id.lt(below))
        .order(e::id)
        .limit(limit)
        .select((e::id, e::recipient))
        .load(conn)?;
    let Some((last, _)) = old.last() else { return Ok(0) };
    let recipients = old_envelopes.filter(old_envelopes.field(e::id).le(last));
    let theirs = w::table
        .filter(w::api_key_id.eq_any(recipients.select(old_envelopes.field(e::recipient))))
        .select(w::id);
    let undelivered = d::table.filter(d::webhook_id.eq_any(theirs)).filter(d::envelope_id.le(last));
    diesel::delete(undelivered).execute(conn)?;
    Ok(diesel::delete(e::table.filter(e::id.le(last))).execute(conn)?)
}

diesel::alias!(e as old_envelopes: OldEnvelopes);

fn row_id((webhook_id, envelope_id): (String, String)) -> RowId {
    RowId { webhook_id, envelope_id }
}
