//! A prepared statement for each row of a batch.

mod send;

use diesel::{
    SqliteConnection,
    prelude::*,
    sql_types::{BigInt, Text},
};
use sealpost_domain::{Timestamp, ports::Claim};

pub(super) use self::send::{add_overages, forget_stale, open_channels, recall, remember, store};
use super::{End, Held, Note, RowId, TakenRow, statement::Statement};
use crate::{
    envelope,
    fault::Fault,
    schema::{deliveries as d, envelopes as e, webhooks as w},
};

pub(super) fn take(
    conn: &mut SqliteConnection,
    claim: &Claim,
    limit: i64,
) -> Result<Vec<TakenRow>, Fault> {
    let due: Vec<TakenRow> = d::table
        .left_join(w::table)
        .left_join(e::table)
        .filter(d::due_at.le(claim.now.as_millis()))
        .order(d::due_at)
        .limit(limit)
        .select((
            d::envelope_id,
            d::webhook_id,
            d::attempts,
            (w::status, (w::id, w::url, w::secret)).nullable(),
            envelope::META.nullable(),
        ))
        .load(conn)?;
    for row in &due {
        Statement::command(
            "UPDATE deliveries SET lease = ?, due_at = ? WHERE envelope_id = ? AND webhook_id = ?",
        )
        .bind::<BigInt, _>(claim.lease.0)
        .bind::<BigInt, _>(claim.lease_until.as_millis())
        .bind::<Text, _>(&row.envelope_id)
        .bind::<Text, _>(&row.webhook_id)
        .execute(conn)?;
    }
    Ok(due)
}

pub(super) fn discard(conn: &mut SqliteConnection, ids: &[RowId]) -> Result<(), Fault> {
    for id in ids {
        diesel::delete(d::table.find((&id.envelope_id, &id.webhook_id))).execute(conn)?;
    }
    Ok(())
}

pub(super) fn park(
    conn: &mut SqliteConnection,
    ids: &[RowId],
    due_at: Timestamp,
) -> Result<(), Fault> {
    for id in ids {
        diesel::update(d::table.find((&id.envelope_id, &id.webhook_id)))
            .set((d::lease.eq(None::<i64>), d::due_at.eq(Some(due_at.as_millis()))))
            .execute(conn)?;
    }
    Ok(())
}

pub(super) fn remove(conn: &mut SqliteConnection, ends: &[&End]) -> Result<Vec<RowId>, Fault> {
    let mut removed = Vec::with_capacity(ends.len());
    for Held { id, lease } in ends.iter().map(|end| &end.held) {
        let held = d::table.find((&id.envelope_id, &id.webhook_id)).filter(d::lease.eq(lease));
        if diesel::delete(held).execute(conn)? == 1 {
            removed.push(id.clone());
        }
    }
    Ok(removed)
}

pub(super) fn keep(conn: &mut SqliteConnection, ends: &[&End]) -> Result<Vec<RowId>, Fault> {
    let mut kept = Vec::with_capacity(ends.len());
    for end in ends {
        let Held { id, lease } = &end.held;
        let held = d::table.find((&id.envelope_id, &id.webhook_id)).filter(d::lease.eq(lease));
        let outcome = (
            d::lease.eq(None::<i64>),
            d::attempts.eq(end.attempts),
            d::due_at.eq(end.due_at),
            d::last_failure.eq(end.failure),
        );
        if diesel::update(held).set(outcome).execute(conn)? == 1 {
            kept.push(id.clone());
        }
    }
    Ok(kept)
}

pub(super) fn note(conn: &mut SqliteConnection, notes: &[Note]) -> Result<(), Fault> {
    for note in notes {
        let registration = w::table.find(&note.webhook_id);
        if let Some(at) = note.success_at {
            let older = w::last_success_at.is_null().or(w::last_success_at.le(at));
            diesel::update(registration.filter(older))
                .set(w::last_success_at.eq(Some(at)))
                .execute(conn)?;
        }
        if let Some(at) = note.failure_at {
            let older = w::last_failure_at.is_null().or(w::last_failure_at.le(at));
            diesel::update(registration.filter(older))
                .set((w::last_failure_at.eq(Some(at)), w::last_failure.eq(note.failure)))
                .execute(conn)?;
        }
    }
    Ok(())
}

pub(super) fn release(
    conn: &mut SqliteConnection,
    held: &[Held],
    due_at: Timestamp,
) -> Result<(), Fault> {
    for Held { id, lease } in held {
        let held = d::table.find((&id.envelope_id, &id.webhook_id)).filter(d::lease.eq(lease));
        diesel::update(held)
            .set((d::lease.eq(None::<i64>), d::due_at.eq(Some(due_at.as_millis()))))
            .execute(conn)?;
    }
    Ok(())
}

pub(super) fn purge_envelopes(
    conn: &mut SqliteConnection,
    below: &str,
    limit: i64,
) -> Result<usize, Fault> {
    let id = old_envelopes.field(e::id);
    let old = old_envelopes.filter(id.lt(below)).order(id).limit(limit).select(id);
    diesel::delete(d::table.filter(d::envelope_id.eq_any(old))).execute(conn)?;
    Ok(diesel::delete(e::table.filter(e::id.eq_any(old))).execute(conn)?)
}

diesel::alias!(e as old_envelopes: OldEnvelopes);
