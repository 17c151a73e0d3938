//! SQLite statements that find due deliveries, lease them, and change or end leases.

use std::{
    collections::{BTreeSet, HashMap, HashSet},
    ops::RangeInclusive,
};

use diesel::{
    SqliteConnection,
    connection::DefaultLoadingMode,
    prelude::*,
    sql_types::{BigInt, Integer, Nullable, Text},
};
use sealpost_domain::{
    Timestamp,
    ports::{Claim, ExpeditedDelivery},
};

use crate::{
    connection::query_error::QueryError,
    query::{any_of::any_of, row_types::SelectedRow, statement::Statement},
    rows::{
        delivery::{ClaimedRow, DeliveryKey, DeliveryLease},
        envelope::{self, HashedMetaRow, MetaRow},
        webhook::TargetRow,
    },
    schema::{api_keys as k, deliveries as d, envelopes as e, handles as h, webhooks as w},
};

pub(crate) fn oldest_due(
    conn: &mut SqliteConnection,
    due: &RangeInclusive<i64>,
    limit: i64,
    full: &[String],
) -> Result<Vec<DeliveryKey>, QueryError> {
    let mut oldest: Vec<DeliveryKey> = d::table
        .filter(d::lease.is_null())
        .filter(d::due_at.between(due.start(), due.end()))
        .order(d::due_at)
        .limit(limit)
        .select((d::webhook_id, d::event_id))
        .load(conn)?;
    if !full.is_empty() {
        let full: HashSet<_> = full.iter().collect();
        oldest.retain(|key| !full.contains(&key.webhook_id));
    }
    Ok(oldest)
}

pub(crate) fn targets_above(
    conn: &mut SqliteConnection,
    above: &str,
    due_from: i64,
    limit: i64,
) -> Result<Vec<(String, i64)>, QueryError> {
    let mut targets = Vec::<(String, i64)>::new();
    for _ in 0..limit {
        let above = targets.last().map_or(above, |(id, _)| id);
        let next = d::table
            .filter(d::webhook_id.gt(above))
            .filter(d::lease.is_null())
            .filter(d::due_at.ge(due_from))
            .order((d::webhook_id, d::due_at))
            .select((d::webhook_id, d::due_at.assume_not_null()))
            .first(conn)
            .optional()?;
        let Some(next) = next else { break };
        targets.push(next);
    }
    Ok(targets)
}

pub(crate) fn due_of(
    conn: &mut SqliteConnection,
    targets: &[String],
    due: &RangeInclusive<i64>,
    limit: i64,
) -> Result<Vec<DeliveryKey>, QueryError> {
    let mut all = Vec::new();
    for target in targets {
        let mut of_target = d::table
            .filter(d::webhook_id.eq(target))
            .filter(d::lease.is_null())
            .filter(d::due_at.between(due.start(), due.end()))
            .order(d::due_at)
            .limit(limit)
            .select((d::webhook_id, d::event_id))
            .load(conn)?;
        all.append(&mut of_target);
    }
    Ok(all)
}

pub(crate) fn end_leases(
    conn: &mut SqliteConnection,
    ends: &RangeInclusive<i64>,
    limit: i64,
) -> Result<(), QueryError> {
    Statement::command(
        "/* claims.end_leases */ UPDATE deliveries SET lease = NULL WHERE (envelope_id, webhook_id) IN (
             SELECT envelope_id, webhook_id FROM deliveries
             WHERE lease <> -1 AND due_at >= ? AND due_at <= ? ORDER BY due_at LIMIT ?
         )",
    )
    .bind::<BigInt, _>(*ends.start())
    .bind::<BigInt, _>(*ends.end())
    .bind::<BigInt, _>(limit)
    .execute(conn)?;
    Ok(())
}

/// Leases deliveries. Reads each webhook and envelope once, because many deliveries of a claim share them.
pub(crate) fn lease(
    conn: &mut SqliteConnection,
    keys: &[DeliveryKey],
    claim: &Claim,
) -> Result<Vec<ClaimedRow>, QueryError> {
    let webhooks: Vec<(String, (String, String, TargetRow))> = w::table
        .inner_join(k::table.on(k::id.eq(w::api_key_id)))
        .filter(w::id.eq_any(keys.iter().map(|key| &key.webhook_id).collect::<BTreeSet<_>>()))
        .select((w::id, (w::status, k::account_id, TargetRow::SELECTION)))
        .load(conn)?;
    let webhooks: HashMap<_, _> = webhooks.into_iter().collect();
    let events = keys.iter().map(|key| &key.event_id).collect();
    let envelopes = envelopes_of(conn, events)?;
    let senders: BTreeSet<_> = envelopes.values().map(|(meta, _)| &meta.sender).collect();
    let handles =
        h::table.filter(any_of(h::api_key_id, senders)).select((h::api_key_id, h::handle));
    let handles: HashMap<_, _> = handles.load::<(String, String)>(conn)?.into_iter().collect();
    let mut leased = Vec::with_capacity(keys.len());
    for DeliveryKey { webhook_id, event_id } in keys {
        let lease = Statement::<_, (Integer, Nullable<BigInt>)>::query(
            "/* claims.lease */ UPDATE deliveries SET lease = ?, due_at = ?, redeliver_at = NULL, recover_at = NULL,
                 requested_at = coalesce(recover_at, requested_at)
             WHERE webhook_id = ? AND envelope_id = ?
             RETURNING max(attempts - (requested_at IS NOT NULL), 0), requested_at",
        )
        .bind::<BigInt, _>(claim.lease.0)
        .bind::<BigInt, _>(claim.lease_until.as_millis())
        .bind::<Text, _>(webhook_id)
        .bind::<Text, _>(event_id);
        let (attempts, requested_at) = lease.get_result::<(i32, Option<i64>)>(conn)?;
        let envelope = envelopes.get(event_id).cloned();
        leased.push(ClaimedRow {
            event_id: event_id.clone(),
            webhook_id: webhook_id.clone(),
            attempts,
            requested_at,
            webhook: webhooks.get(webhook_id).cloned(),
            sender_handle: envelope
                .as_ref()
                .and_then(|(meta, _)| handles.get(&meta.sender))
                .cloned(),
            envelope,
        });
    }
    Ok(leased)
}

/// Returns the metadata and hashes of these envelopes, by id. Keeps the sealed bytes of one envelope at a time in
/// memory.
fn envelopes_of(
    conn: &mut SqliteConnection,
    ids: BTreeSet<&String>,
) -> QueryResult<HashMap<String, HashedMetaRow>> {
    let envelopes = e::table.filter(any_of(e::id, ids));
    let envelopes = envelopes.select((e::id, MetaRow::SELECTION, e::sealed));
    let rows = envelopes.load_iter::<(String, MetaRow, Vec<u8>), DefaultLoadingMode>(conn)?;
    rows.map(|row| row.map(|(id, meta, sealed)| (id, (meta, envelope::hash(&sealed))))).collect()
}

pub(crate) fn delete(
    conn: &mut SqliteConnection,
    keys: &[DeliveryKey],
) -> Result<Vec<DeliveryKey>, QueryError> {
    let mut deleted = Vec::with_capacity(keys.len());
    for key in keys {
        let row = d::table.find((&key.event_id, &key.webhook_id));
        if diesel::delete(row).execute(conn)? == 1 {
            deleted.push(key.clone());
        }
    }
    Ok(deleted)
}

pub(crate) fn park(
    conn: &mut SqliteConnection,
    keys: &[DeliveryKey],
    due_at: Timestamp,
) -> Result<(), QueryError> {
    for key in keys {
        diesel::update(d::table.find((&key.event_id, &key.webhook_id)))
            .set((d::lease.eq(None::<i64>), d::due_at.eq(Some(due_at.as_millis()))))
            .execute(conn)?;
    }
    Ok(())
}

pub(crate) fn release(
    conn: &mut SqliteConnection,
    leases: &[DeliveryLease],
    due_at: Timestamp,
) -> Result<(), QueryError> {
    for DeliveryLease { key, lease } in leases {
        Statement::command(
            "/* claims.release */ UPDATE deliveries SET lease = NULL, due_at = min(ifnull(recover_at, ?), ?)
             WHERE envelope_id = ? AND webhook_id = ? AND lease = ?",
        )
        .bind::<BigInt, _>(due_at.as_millis())
        .bind::<BigInt, _>(due_at.as_millis())
        .bind::<Text, _>(&key.event_id)
        .bind::<Text, _>(&key.webhook_id)
        .bind::<BigInt, _>(lease)
        .execute(conn)?;
    }
    Ok(())
}

pub(crate) fn expedite(
    conn: &mut SqliteConnection,
    changes: &[ExpeditedDelivery],
) -> Result<(), QueryError> {
    for ExpeditedDelivery { id, from, to } in changes {
        let unchanged = d::table
            .find((id.event_id.to_string(), id.webhook_id.to_string()))
            .filter(d::due_at.eq(from.as_millis()))
            .filter(d::lease.is_null());
        diesel::update(unchanged).set(d::due_at.eq(Some(to.as_millis()))).execute(conn)?;
    }
    Ok(())
}
