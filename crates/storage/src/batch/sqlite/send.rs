//! What a batch of sends reads and writes.

use diesel::{
    SqliteConnection,
    dsl::{exists, not},
    prelude::*,
    sql_types::{BigInt, Text},
    upsert::excluded,
};

use crate::{
    any_of::any_of,
    batch::{
        ChannelRow, EnvelopeRow, OverageRow, RecalledRow, RememberedId, RememberedRow, SentRows,
        statement::Statement,
    },
    envelope,
    fault::Fault,
    schema::{
        channels as c, deliveries as d, envelopes as e, facts_stamp, overages as o,
        remembered as r, usage as u,
    },
    usage::UsageRow,
};

/// Who writes is alone, so nothing is locked.
pub(in crate::batch) fn lock_usage_and_facts(
    conn: &mut SqliteConnection,
    callers: &[String],
) -> Result<(Vec<UsageRow>, String), Fault> {
    let usage = u::table.filter(any_of(u::api_key_id, callers)).load(conn)?;
    Ok((usage, facts_stamp::table.select(facts_stamp::stamp).first(conn)?))
}

pub(in crate::batch) fn store(
    conn: &mut SqliteConnection,
    rows: &SentRows<'_>,
) -> Result<(), Fault> {
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

pub(in crate::batch) fn open_channels(
    conn: &mut SqliteConnection,
    rows: &[ChannelRow<'_>],
) -> Result<(), Fault> {
    for row in rows {
        let values = (
            c::id.eq(&row.id),
            c::sender.eq(&row.sender),
            c::recipient.eq(&row.recipient),
            c::sealing_version.eq(row.sealing_version),
            c::encapsulation.eq(row.encapsulation),
            c::signature.eq(row.signature),
        );
        let insert = diesel::insert_into(c::table).values(values);
        insert.on_conflict_do_nothing().execute(conn)?;
    }
    Ok(())
}

pub(in crate::batch) fn recall(
    conn: &mut SqliteConnection,
    ids: &[RememberedId<'_>],
) -> Result<Vec<RecalledRow>, Fault> {
    let mut recalled = Vec::with_capacity(ids.len());
    for id in ids {
        let row = r::table
            .find((&id.api_key_id, id.idempotency_key))
            .inner_join(e::table)
            .select((
                r::api_key_id,
                r::idempotency_key,
                r::fingerprint,
                r::created_at,
                envelope::META,
            ))
            .first(conn);
        recalled.extend(row.optional()?);
    }
    Ok(recalled)
}

pub(in crate::batch) fn remember(
    conn: &mut SqliteConnection,
    rows: &[RememberedRow<'_>],
) -> Result<usize, Fault> {
    let mut remembered = 0;
    for row in rows {
        let values = (
            r::api_key_id.eq(&row.id.api_key_id),
            r::idempotency_key.eq(row.id.idempotency_key),
            r::fingerprint.eq(row.fingerprint),
            r::envelope_id.eq(&row.envelope_id),
            r::created_at.eq(row.created_at),
        );
        let insert = diesel::insert_into(r::table).values(values);
        remembered += insert.on_conflict_do_nothing().execute(conn)?;
    }
    Ok(remembered)
}

pub(in crate::batch) fn forget_stale(
    conn: &mut SqliteConnection,
    rows: &[RememberedRow<'_>],
) -> Result<(), Fault> {
    for RememberedRow { id, expired_before, .. } in rows {
        let envelope = e::table.filter(e::id.eq(r::envelope_id));
        let stale = r::table
            .find((&id.api_key_id, id.idempotency_key))
            .filter(r::created_at.lt(expired_before).or(not(exists(envelope))));
        diesel::delete(stale).execute(conn)?;
    }
    Ok(())
}

pub(in crate::batch) fn add_overages(
    conn: &mut SqliteConnection,
    rows: &[OverageRow],
) -> Result<(), Fault> {
    for row in rows {
        diesel::insert_into(o::table)
            .values(row)
            .on_conflict((o::api_key_id, o::month))
            .do_update()
            .set(o::messages.eq(o::messages + excluded(o::messages)))
            .execute(conn)?;
    }
    Ok(())
}
