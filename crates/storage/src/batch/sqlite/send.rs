//! What a batch of sends reads and writes.

use diesel::{SqliteConnection, dsl::exists, prelude::*, upsert::excluded};

use crate::{
    batch::{DeliveryRow, EnvelopeRow, OverageRow, RecalledRow, RememberedId, RememberedRow},
    envelope,
    fault::Fault,
    schema::{deliveries as d, envelopes as e, overages as o, remembered as r, usage},
    usage::UsageRow,
};

pub(in crate::batch) fn insert_envelopes(
    conn: &mut SqliteConnection,
    rows: &[EnvelopeRow<'_>],
) -> Result<(), Fault> {
    for row in rows {
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
    }
    Ok(())
}

pub(in crate::batch) fn insert_deliveries(
    conn: &mut SqliteConnection,
    rows: &[DeliveryRow],
) -> Result<(), Fault> {
    for row in rows {
        diesel::insert_into(d::table).values(row).execute(conn)?;
    }
    Ok(())
}

pub(in crate::batch) fn update_usage(
    conn: &mut SqliteConnection,
    rows: &[UsageRow],
) -> Result<(), Fault> {
    for row in rows {
        let updated = diesel::update(usage::table.find(&row.api_key_id)).set(row).execute(conn)?;
        if updated != 1 {
            return Err(Fault::Corrupt("usage"));
        }
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
            .select((r::api_key_id, r::idempotency_key, r::fingerprint, envelope::META))
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
    for RememberedRow { id, .. } in rows {
        let envelope = e::table.filter(e::id.eq(r::envelope_id));
        let stale = r::table
            .find((&id.api_key_id, id.idempotency_key))
            .filter(diesel::dsl::not(exists(envelope)));
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
