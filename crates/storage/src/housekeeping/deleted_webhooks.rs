//! Deletes the deliveries and attempts of deleted webhooks in batches. The table `deleted_webhooks` lists the webhooks
//! for which rows may remain.

use std::collections::BTreeMap;

use diesel::{dsl::sql, prelude::*, sql_types::Bool};
use sealpost_domain::{AttemptOutcome, Timestamp, ports::StoreError};

use crate::{
    connection::{AnyConnection, on_backend, query_error::QueryError, transaction::Transaction},
    query::webhook_end::{attempt_ends_like, delivery_ends_like},
    queue::{bounces, delivery_log::PARTS, statements},
    rows::{
        columns,
        delivery::{self, DeliveryKey},
    },
    schema::{attempts as a, deleted_webhooks as f, deliveries as d},
};

impl Transaction {
    /// Deletes up to `limit` rows of deleted webhooks: their deliveries, their attempts, and then their rows in
    /// `deleted_webhooks`. Returns the number of deleted rows. An unopened envelope bounces at `now` (its sender gets
    /// an event) if its recipient is revoked, or if only exhausted deliveries (without further attempts) are left.
    pub fn purge_deleted_webhooks(
        &mut self,
        now: Timestamp,
        limit: u32,
    ) -> Result<u64, StoreError> {
        self.run(|conn| purge(conn, now, limit.into()))
    }
}

/// Deletes at most [`AT_ONCE_MAX`] deliveries to the given webhooks, and returns the number of deleted deliveries. Adds
/// the webhooks to the table `deleted_webhooks`, so that housekeeping later deletes their other deliveries and their
/// attempts.
///
/// The number is limited, because deleting a long backlog in one transaction could exceed the statement timeout. The
/// revocation of an API key, which deletes the webhooks of the key, would then fail.
///
/// Until housekeeping deletes the remaining rows, no query returns them. A node that tries to lease such a delivery
/// deletes the delivery.
pub(crate) fn delete_with_backlog(
    conn: &mut AnyConnection,
    ids: &[String],
    now: Timestamp,
) -> Result<usize, QueryError> {
    let deleted = delete_deliveries(conn, ids, now, AT_ONCE_MAX)?;
    for id in ids {
        // Ignores a conflict, because another transaction may have deleted the same webhook and inserted the same row.
        let mark = diesel::insert_into(f::table).values(f::id.eq(id));
        on_backend!(conn, c => mark.on_conflict_do_nothing().execute(c))?;
    }
    Ok(deleted)
}

/// Deletes up to `limit` rows of the webhooks in `deleted_webhooks`: first their deliveries, then their attempts, and
/// the row of each webhook after its attempts.
pub(crate) fn purge(
    conn: &mut AnyConnection,
    now: Timestamp,
    limit: u64,
) -> Result<u64, QueryError> {
    let listed = f::table.order(f::id).limit(columns::number(limit, "limit")?).select(f::id);
    let ids = listed.load::<String>(conn)?;
    let limit: usize = columns::number(limit, "limit")?;
    let mut purged = delete_deliveries(conn, &ids, now, limit)?;
    for id in &ids {
        if purged >= limit {
            break;
        }
        purged += delete_attempts(conn, id, columns::number(limit - purged, "limit")?)?;
        if purged < limit {
            diesel::delete(f::table.find(id)).execute(conn)?;
            purged += 1;
        }
    }
    columns::number(purged, "number of rows")
}

/// Deletes up to `limit` deliveries to the given webhooks, and returns their number. An unopened envelope then bounces
/// (its sender gets an event) if its recipient is revoked, or if only exhausted deliveries (without further attempts)
/// are left.
///
/// Locks the deliveries of all webhooks, then their envelopes. A transaction that records outcomes locks rows in the
/// same order, so that the two cannot deadlock.
fn delete_deliveries(
    conn: &mut AnyConnection,
    ids: &[String],
    now: Timestamp,
    limit: usize,
) -> Result<usize, QueryError> {
    let mut keys = Vec::new();
    for id in ids {
        if keys.len() >= limit {
            break;
        }
        keys.append(&mut deliveries_to(conn, id, limit - keys.len())?);
    }
    if keys.is_empty() {
        return Ok(0);
    }
    statements::lock(conn, &keys)?;
    let deleted = statements::delete(conn, &keys)?;
    bounces::settle(conn, deleted.iter().map(|key| &key.event_id), now)?;
    Ok(keys.len())
}

/// Returns the primary keys of up to `limit` deliveries to a webhook.
fn deliveries_to(
    conn: &mut AnyConnection,
    id: &str,
    limit: usize,
) -> Result<Vec<DeliveryKey>, QueryError> {
    let to_it = d::table.filter(d::webhook_id.eq(id));
    // Waiting deliveries and exhausted deliveries have separate indexes, so two queries select them. Each query sorts
    // in the order of its index, because PostgreSQL might otherwise scan the table.
    let waiting = to_it
        .filter(delivery_ends_like(id))
        .filter(d::due_at.is_not_null())
        .order(d::due_at)
        .limit(columns::number(limit, "limit")?)
        .select(d::event_id);
    let mut events = waiting.load::<String>(conn)?;
    let exhausted = to_it
        .filter(d::due_at.is_null())
        .filter(d::failed_at.is_not_null())
        .order(d::failed_at)
        .limit(columns::number(limit.saturating_sub(events.len()), "limit")?)
        .select(d::event_id);
    events.extend(exhausted.load::<String>(conn)?);
    Ok(delivery::keys_to(id, &events))
}

/// Deletes up to `limit` attempts of a webhook, and returns their number. If an attempt delivered an envelope, first
/// records the outcome `announced` (delivered to a webhook) for this envelope. Receipts, which show senders the states
/// of their envelopes, then still show the success.
fn delete_attempts(conn: &mut AnyConnection, id: &str, limit: i64) -> Result<usize, QueryError> {
    let mut attempts = Vec::<(i64, String, String, i64)>::new();
    for part in PARTS {
        let left = limit.saturating_sub(columns::number(attempts.len(), "number of attempts")?);
        let of_webhook = a::table
            .filter(attempt_ends_like(id))
            .filter(a::webhook_id.eq(id))
            .filter(sql::<Bool>(part))
            .limit(left)
            .select((a::number, a::outcome, a::event_id, a::at));
        attempts.append(&mut of_webhook.load(conn)?);
    }
    let succeeded = attempts.iter().filter(|(_, outcome, ..)| outcome == SUCCEEDED);
    let mut events = BTreeMap::<i64, Vec<&String>>::new();
    for (_, _, event_id, at) in succeeded {
        events.entry(*at).or_default().push(event_id);
    }
    for (at, events) in events {
        bounces::announce(conn, events, Timestamp::from_millis(at))?;
    }
    let these = a::table.filter(a::number.eq_any(attempts.iter().map(|(number, ..)| *number)));
    Ok(on_backend!(conn, c => diesel::delete(these).execute(c))?)
}

const SUCCEEDED: &str = AttemptOutcome::Succeeded.as_str();

/// Maximum number of deliveries that are deleted in the same transaction as their webhooks. On SQLite, all other
/// writers wait for this transaction.
pub(crate) const AT_ONCE_MAX: usize = 200;
