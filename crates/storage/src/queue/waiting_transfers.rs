//! Transfers of waiting envelopes to the first webhook of their recipient.
//!
//! A batch stores a waiting envelope if the facts show no webhook. Another transaction may register the first webhook
//! at the same time. On PostgreSQL such a batch may commit after the webhook, so a requested transfer ends only after
//! all transactions that were running at its start.

use diesel::{
    prelude::*,
    sql_types::{BigInt, Nullable, Text},
};
use sealpost_domain::{
    ApiKeyId, EventKind, KeyStatus, Timestamp,
    ports::{StoreError, WaitingRepo, WaitingTransfer},
};

use crate::{
    connection::{AnyConnection, fault::Fault, transaction::Transaction},
    query::{any_of::any_of, statement::Statement},
    queue::{bounces, statements, waiting},
    rows::{columns, delivery::DeliveryRow},
    schema::{
        api_keys as k, waiting_envelopes as e, waiting_skips as s, waiting_transfers as t,
        webhooks as w,
    },
};

impl WaitingRepo for Transaction {
    fn skip_waiting(&mut self, recipient: &ApiKeyId, now: Timestamp) -> Result<(), StoreError> {
        self.run(|conn| waiting::skip(conn, &recipient.to_string(), now))
    }

    fn transfer_waiting(
        &mut self,
        after: Option<&ApiKeyId>,
        now: Timestamp,
        limit: u32,
    ) -> Result<Option<WaitingTransfer>, StoreError> {
        let after = after.map(ApiKeyId::to_string).unwrap_or_default();
        self.run(|conn| {
            let Some(request) = lock_next(conn, &after)? else { return Ok(None) };
            let transferred = transfer(conn, &request, now, limit.into())?;
            Ok(Some(WaitingTransfer {
                api_key_id: columns::id(&request.api_key_id, "transfer")?,
                transferred: columns::number(transferred, "number of envelopes")?,
            }))
        })
    }
}

/// A requested transfer, locked until the transaction ends. The lock is the lease: a crashed node holds none.
#[derive(Debug, Queryable)]
struct TransferRequest {
    api_key_id: String,
    horizon: Option<i64>,
}

fn lock_next(conn: &mut AnyConnection, after: &str) -> Result<Option<TransferRequest>, Fault> {
    let next = match conn {
        AnyConnection::Postgres(pg) => Statement::<_, (Text, Nullable<BigInt>)>::query(
            "SELECT api_key_id, horizon FROM waiting_transfers WHERE api_key_id > ?
             ORDER BY api_key_id LIMIT 1 FOR UPDATE SKIP LOCKED",
        )
        .bind::<Text, _>(after)
        .get_result(pg),
        AnyConnection::Sqlite(lite) => {
            t::table.filter(t::api_key_id.gt(after)).order(t::api_key_id).first(lite)
        }
    };
    Ok(next.optional()?)
}

/// Transfers up to `limit` waiting envelopes of a key and returns their number. Ends the request if no more envelopes
/// can follow.
fn transfer(
    conn: &mut AnyConnection,
    request: &TransferRequest,
    now: Timestamp,
    limit: i64,
) -> Result<i64, Fault> {
    // The horizon is checked before the envelopes are read, so that no envelope can follow the last portion.
    let horizon = Horizon::of(conn, request)?;
    let (taken, is_settled) = match destination(conn, &request.api_key_id)? {
        Destination::None => (0, true),
        Destination::Revoked => {
            let taken = take(conn, &request.api_key_id, limit)?;
            bounces::settle(conn, &taken, now)?;
            (taken.len(), horizon.is_reached)
        }
        Destination::Webhook(webhook_id) => {
            let taken = take(conn, &request.api_key_id, limit)?;
            deliver(conn, &request.api_key_id, &webhook_id, &taken, now)?;
            (taken.len(), horizon.is_reached)
        }
    };
    let taken = columns::number(taken, "number of envelopes")?;
    let this = t::table.find(&request.api_key_id);
    if taken < limit && is_settled {
        diesel::delete(this).execute(conn)?;
    } else if request.horizon.is_none() {
        diesel::update(this).set(t::horizon.eq(horizon.next)).execute(conn)?;
    }
    Ok(taken)
}

/// The state of the transactions that may still store waiting envelopes of a key with a webhook.
struct Horizon {
    /// The horizon of the request, if the request has none yet.
    next: Option<i64>,
    /// Whether all transactions below the horizon of the request have ended.
    is_reached: bool,
}

impl Horizon {
    fn of(conn: &mut AnyConnection, request: &TransferRequest) -> Result<Self, Fault> {
        let AnyConnection::Postgres(pg) = conn else {
            return Ok(Self { next: None, is_reached: true });
        };
        let (running, next): (i64, i64) = Statement::<_, (BigInt, BigInt)>::query(
            "SELECT pg_snapshot_xmin(s)::TEXT::BIGINT, pg_snapshot_xmax(s)::TEXT::BIGINT
             FROM pg_current_snapshot() AS s",
        )
        .get_result(pg)?;
        let is_reached = request.horizon.is_some_and(|horizon| running >= horizon);
        Ok(Self { next: Some(next), is_reached })
    }
}

enum Destination {
    /// The key has no webhook for received envelopes, so its envelopes go on waiting.
    None,
    /// The key is revoked, so its envelopes bounce.
    Revoked,
    /// The id of the oldest webhook for received envelopes.
    Webhook(String),
}

fn destination(conn: &mut AnyConnection, key: &str) -> Result<Destination, Fault> {
    let status = k::table.find(key).select(k::status).first::<String>(conn)?;
    if columns::key_status(&status)? == KeyStatus::Revoked {
        return Ok(Destination::Revoked);
    }
    let webhooks = w::table
        .filter(w::api_key_id.eq(key))
        .order((w::created_at, w::id))
        .select((w::id, w::events));
    let webhooks: Vec<(String, String)> = webhooks.load(conn)?;
    let is_subscribed =
        |names: &str| columns::known_events(names).contains(&EventKind::EnvelopeReceived);
    let first = webhooks.into_iter().find(|(_, names)| is_subscribed(names));
    Ok(first.map_or(Destination::None, |(id, _)| Destination::Webhook(id)))
}

/// Deletes up to `limit` rows of waiting envelopes, oldest first, and returns the ids of the envelopes.
fn take(conn: &mut AnyConnection, key: &str, limit: i64) -> Result<Vec<String>, Fault> {
    let oldest = e::table
        .filter(e::recipient.eq(key))
        .order(e::envelope_id)
        .limit(limit)
        .select(e::envelope_id);
    let mut ids: Vec<String> = oldest.load(conn)?;
    let rows = e::table.filter(any_of(e::envelope_id, &ids));
    match conn {
        // Another transaction may have opened or purged an envelope since.
        AnyConnection::Postgres(pg) => {
            ids = diesel::delete(rows).returning(e::envelope_id).get_results(pg)?;
            ids.sort_unstable();
        }
        AnyConnection::Sqlite(lite) => {
            diesel::delete(rows).execute(lite)?;
        }
    }
    Ok(ids)
}

/// Stores deliveries to a webhook, except of skipped envelopes. If a concurrent transaction deletes the webhook, the next
/// claim lets the envelopes wait again.
fn deliver(
    conn: &mut AnyConnection,
    key: &str,
    webhook_id: &str,
    envelopes: &[String],
    now: Timestamp,
) -> Result<(), Fault> {
    let skipped = s::table.find(key).select(s::until).first::<String>(conn).optional()?;
    let skipped = skipped.unwrap_or_default();
    let wanted = envelopes.iter().filter(|id| **id > skipped);
    let rows = wanted.map(|id| DeliveryRow::new(id, webhook_id, now.as_millis()));
    statements::insert_deliveries(conn, &rows.collect::<Vec<_>>())
}
