//! The queue: who takes what, and what is put out of the way.

use std::collections::{BTreeSet, HashMap};

use diesel::{
    SqliteConnection,
    prelude::*,
    sql_types::{BigInt, Integer, Text},
};
use sealpost_domain::{Timestamp, ports::Claim};

use crate::{
    batch::{Held, Move, RowId, TakenRow, statement::Statement},
    envelope::{self, MetaRow},
    fault::Fault,
    schema::{deliveries as d, envelopes as e, webhooks as w},
    webhook::{self, TargetRow},
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

/// Webhooks and envelopes are read once each, since most of a claim share some.
pub(in crate::batch) fn lease(
    conn: &mut SqliteConnection,
    ids: &[RowId],
    claim: &Claim,
) -> Result<Vec<TakenRow>, Fault> {
    let webhooks: Vec<(String, (String, TargetRow))> = w::table
        .filter(w::id.eq_any(ids.iter().map(|id| &id.webhook_id).collect::<BTreeSet<_>>()))
        .select((w::id, (w::status, webhook::TARGET)))
        .load(conn)?;
    let webhooks: HashMap<_, _> = webhooks.into_iter().collect();
    let envelopes: Vec<(String, MetaRow)> = e::table
        .filter(e::id.eq_any(ids.iter().map(|id| &id.envelope_id).collect::<BTreeSet<_>>()))
        .select((e::id, envelope::META))
        .load(conn)?;
    let envelopes: HashMap<_, _> = envelopes.into_iter().collect();
    let mut taken = Vec::with_capacity(ids.len());
    for RowId { webhook_id, envelope_id } in ids {
        let held = Statement::<_, Integer>::query(
            "UPDATE deliveries SET lease = ?, due_at = ? WHERE webhook_id = ? AND envelope_id = ?
             RETURNING attempts",
        )
        .bind::<BigInt, _>(claim.lease.0)
        .bind::<BigInt, _>(claim.lease_until.as_millis())
        .bind::<Text, _>(webhook_id)
        .bind::<Text, _>(envelope_id)
        .get_result(conn)?;
        taken.push(TakenRow {
            envelope_id: envelope_id.clone(),
            webhook_id: webhook_id.clone(),
            attempts: held,
            webhook: webhooks.get(webhook_id).cloned(),
            envelope: envelopes.get(envelope_id).cloned(),
        });
    }
    Ok(taken)
}

pub(in crate::batch) fn discard(conn: &mut SqliteConnection, ids: &[RowId]) -> Result<(), Fault> {
    for id in ids {
        diesel::delete(d::table.find((&id.envelope_id, &id.webhook_id))).execute(conn)?;
    }
    Ok(())
}

pub(in crate::batch) fn park(
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

pub(in crate::batch) fn release(
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

pub(in crate::batch) fn expedite(conn: &mut SqliteConnection, moves: &[Move]) -> Result<(), Fault> {
    for Move { id, from, to } in moves {
        let unmoved = d::table
            .find((&id.envelope_id, &id.webhook_id))
            .filter(d::due_at.eq(from))
            .filter(d::lease.is_null());
        diesel::update(unmoved).set(d::due_at.eq(Some(*to))).execute(conn)?;
    }
    Ok(())
}

pub(in crate::batch) fn purge_envelopes(
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

fn row_id((webhook_id, envelope_id): (String, String)) -> RowId {
    RowId { webhook_id, envelope_id }
}
