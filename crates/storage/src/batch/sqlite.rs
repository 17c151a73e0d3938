//! A prepared statement for each row of a batch.

use diesel::{
    SqliteConnection,
    prelude::*,
    sql_types::{BigInt, Text},
};
use sealpost_domain::{Timestamp, ports::Claim};

use super::{End, EnvelopeRow, Held, Note, RowId, SentRows, TakenRow, statement::Statement};
use crate::{
    envelope,
    fault::Fault,
    schema::{deliveries as d, envelopes as e, webhooks as w},
    usage::UsageRow,
};

pub(super) fn store(conn: &mut SqliteConnection, rows: &SentRows<'_>) -> Result<(), Fault> {
    for row in &rows.envelopes {
        insert_envelope(conn, row)?;
    }
    for row in &rows.deliveries {
        diesel::insert_into(d::table).values(row).execute(conn)?;
    }
    for row in &rows.usage {
        update_usage(conn, row)?;
    }
    Ok(())
}

fn update_usage(conn: &mut SqliteConnection, row: &UsageRow) -> Result<(), Fault> {
    let updated = Statement::command(
        "UPDATE usage SET minute_start = ?, minute_used = ?, day_start = ?, day_used = ?,
             month_start = ?, month_used = ?, throughput_tat_us = ? WHERE api_key_id = ?",
    )
    .bind::<BigInt, _>(row.minute_start)
    .bind::<BigInt, _>(row.minute_used)
    .bind::<BigInt, _>(row.day_start)
    .bind::<BigInt, _>(row.day_used)
    .bind::<BigInt, _>(row.month_start)
    .bind::<BigInt, _>(row.month_used)
    .bind::<BigInt, _>(row.throughput_tat_us)
    .bind::<Text, _>(&row.api_key_id)
    .execute(conn)?;
    if updated == 1 { Ok(()) } else { Err(Fault::Corrupt("usage")) }
}

fn insert_envelope(conn: &mut SqliteConnection, row: &EnvelopeRow<'_>) -> Result<(), Fault> {
    let values = (
        e::id.eq(&row.id),
        e::sender.eq(&row.sender),
        e::recipient.eq(&row.recipient),
        e::suite.eq(row.suite),
        e::hash.eq(row.hash),
        e::signature.eq(row.signature),
        e::sealed.eq(row.sealed),
        e::payload_size_bytes.eq(row.payload_size_bytes),
        e::created_at.eq(row.created_at),
    );
    diesel::insert_into(e::table).values(values).execute(conn)?;
    Ok(())
}

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
