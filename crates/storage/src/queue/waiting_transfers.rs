//! Transfers waiting envelopes to the oldest webhook of their recipient. If the recipient's key is revoked, the
//! envelopes bounce instead: their senders get an event. Each transaction transfers a limited number of envelopes.
//!
//! A batch of sends stores an envelope as waiting if it finds no webhook of the recipient. Another transaction may
//! insert the first webhook at the same time. On PostgreSQL, the envelopes of the batch can therefore appear when the
//! transfer has already begun. So a transfer ends only after all transactions have ended that were running during the
//! first transaction of the transfer.

use diesel::{
    prelude::*,
    sql_types::{BigInt, Nullable, Text},
};
use sealpost_domain::{
    ApiKeyId, EnvelopeId, EventKind, KeyStatus, Timestamp,
    ports::{StoreError, WaitingTransfer},
};

use crate::{
    connection::{AnyConnection, on_backend, query_error::QueryError, transaction::Transaction},
    housekeeping::partitions::first_id,
    query::{any_of::any_of, row_types::insert_missing, statement::Statement},
    queue::{bounces, waiting::last_skip},
    rows::{columns, delivery::DeliveryRow},
    schema::{
        api_keys as k, waiting_envelopes as e, waiting_skips as s, waiting_transfers as t,
        webhooks as w,
    },
};

impl Transaction {
    /// Skips the waiting envelopes of a key: no later webhook receives these envelopes. Stores the highest id to skip:
    /// the id of the newest waiting envelope, or the highest possible id of the millisecond `now`, if that is higher.
    ///
    /// An id from a node with a clock far ahead is not stored, because later envelopes would be skipped too. The row of
    /// its envelope in `waiting_envelopes` is deleted instead.
    pub fn skip_waiting(&mut self, recipient: &ApiKeyId, now: Timestamp) -> Result<(), StoreError> {
        let recipient = recipient.to_string();
        self.run(|conn| {
            let of_key = e::table.filter(e::recipient.eq(&recipient));
            let last = last_skip(now);
            diesel::delete(of_key.filter(e::envelope_id.gt(&last))).execute(conn)?;
            let newest = of_key
                .order(e::envelope_id.desc())
                .select(e::envelope_id)
                .first::<String>(conn)
                .optional()?;
            let until = EnvelopeId::new(now, [0xff; 10]).to_string();
            let until = newest.unwrap_or_default().max(until);
            let row = (s::api_key_id.eq(&recipient), s::until.eq(&until));
            let insert = diesel::insert_into(s::table).values(row);
            on_backend!(conn, c => {
                insert.on_conflict(s::api_key_id).do_update().set(s::until.eq(&until)).execute(c)
            })?;
            Ok(())
        })
    }

    /// Transfers up to `limit` [waiting envelopes](sealpost_domain::ports::WaitingEnvelope) of one key, oldest first.
    /// They get deliveries to the oldest webhook for received envelopes, due at `now`. If the key is revoked, they
    /// bounce at `now`: their senders get an event. Leaves envelopes that were sealed before `oldest` to
    /// [`purge_envelopes`](crate::Transaction::purge_envelopes).
    ///
    /// Chooses the first key after `after` with a requested transfer. For example, a new webhook and the revocation of
    /// a key request a transfer. Skips a key while another transaction transfers its envelopes. Returns `None` if no
    /// such key is left.
    pub fn transfer_waiting(
        &mut self,
        after: Option<&ApiKeyId>,
        oldest: Timestamp,
        now: Timestamp,
        limit: u32,
    ) -> Result<Option<WaitingTransfer>, StoreError> {
        let after = after.map(ApiKeyId::to_string).unwrap_or_default();
        self.run(|conn| {
            let Some(request) = lock_next(conn, &after)? else { return Ok(None) };
            let since = first_id(oldest);
            let transferred = transfer(conn, &request, &since, now, limit.into())?;
            Ok(Some(WaitingTransfer {
                api_key_id: columns::id(&request.api_key_id, "transfer")?,
                transferred: columns::number(transferred, "number of envelopes")?,
            }))
        })
    }
}

/// A requested transfer of a key's waiting envelopes. Its row stays locked until the transaction ends, so that no other
/// node performs the same transfer.
#[derive(Debug, Queryable)]
struct TransferRequest {
    api_key_id: String,
    /// A transaction id: see [`Horizon`]. `None` before the first transaction of the transfer, and always on SQLite.
    horizon: Option<i64>,
}

fn lock_next(conn: &mut AnyConnection, after: &str) -> Result<Option<TransferRequest>, QueryError> {
    let next = match conn {
        AnyConnection::Postgres(pg) => Statement::<_, (Text, Nullable<BigInt>)>::query(
            "/* waiting_transfers.lock_next */ SELECT api_key_id, horizon FROM waiting_transfers WHERE api_key_id > ?
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

/// Transfers up to `limit` waiting envelopes of an API key to its webhook, or bounces them if the key is revoked.
/// Leaves envelopes with ids below `since`, which have expired. Returns the number of transferred envelopes. Deletes
/// the request if no further envelope can appear.
fn transfer(
    conn: &mut AnyConnection,
    request: &TransferRequest,
    since: &str,
    now: Timestamp,
    limit: i64,
) -> Result<i64, QueryError> {
    // This check for running transactions must come before the envelopes are read. Otherwise, a transaction could store
    // an envelope after the read and end before the check. The request would then be deleted, although this envelope
    // waits.
    let horizon = Horizon::new(conn, request)?;
    // Deletes a skip that comes from a wrong clock, because such a skip would also skip envelopes that arrive later.
    let wrong = s::table.find(&request.api_key_id).filter(s::until.gt(last_skip(now)));
    diesel::delete(wrong).execute(conn)?;
    let (taken, is_settled) = match destination(conn, &request.api_key_id)? {
        Destination::None => (0, true),
        Destination::Revoked => {
            let oldest = oldest(conn, &request.api_key_id, since, limit)?;
            // Locks the envelopes before the waiting rows. Retention and the opening of an envelope use the same order,
            // so that these transactions cannot deadlock.
            bounces::lock(conn, &oldest)?;
            let taken = delete(conn, oldest)?;
            bounces::settle(conn, &taken, now)?;
            (taken.len(), horizon.is_reached)
        }
        Destination::Webhook(webhook_id) => {
            let oldest = oldest(conn, &request.api_key_id, since, limit)?;
            let taken = delete(conn, oldest)?;
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

/// Shows whether transactions are still running that may store a waiting envelope although the recipient has a webhook.
///
/// A horizon is a transaction id of PostgreSQL. Transactions with this id or a higher one began after the first
/// transaction of the transfer, so they find the webhook.
struct Horizon {
    /// The horizon to store with the request if the request has none yet; `None` on SQLite.
    next: Option<i64>,
    /// Whether all transactions with ids below the horizon of the request have ended. Always true on SQLite, which has
    /// one writer at a time.
    is_reached: bool,
}

impl Horizon {
    fn new(conn: &mut AnyConnection, request: &TransferRequest) -> Result<Self, QueryError> {
        let AnyConnection::Postgres(pg) = conn else {
            return Ok(Self { next: None, is_reached: true });
        };
        let (running, next): (i64, i64) = Statement::<_, (BigInt, BigInt)>::query(
            "/* waiting_transfers.of */ SELECT pg_snapshot_xmin(s)::TEXT::BIGINT, pg_snapshot_xmax(s)::TEXT::BIGINT
             FROM pg_current_snapshot() AS s",
        )
        .get_result(pg)?;
        let is_reached = request.horizon.is_some_and(|horizon| running >= horizon);
        Ok(Self { next: Some(next), is_reached })
    }
}

enum Destination {
    /// The key has no webhook for received envelopes, so its envelopes continue to wait.
    None,
    /// The key is revoked, so its envelopes bounce.
    Revoked,
    /// The id of the oldest webhook for received envelopes.
    Webhook(String),
}

fn destination(conn: &mut AnyConnection, key: &str) -> Result<Destination, QueryError> {
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

/// Returns the ids of the oldest `limit` waiting envelopes of an API key from `since` on, in ascending order.
fn oldest(
    conn: &mut AnyConnection,
    key: &str,
    since: &str,
    limit: i64,
) -> Result<Vec<String>, QueryError> {
    let oldest = e::table
        .filter(e::recipient.eq(key))
        .filter(e::envelope_id.ge(since))
        .order(e::envelope_id)
        .limit(limit)
        .select(e::envelope_id);
    Ok(oldest.load(conn)?)
}

/// Deletes the rows of waiting envelopes. Returns the ids of the rows that still existed.
fn delete(conn: &mut AnyConnection, mut ids: Vec<String>) -> Result<Vec<String>, QueryError> {
    let rows = e::table.filter(any_of(e::envelope_id, &ids));
    match conn {
        // Returns only the ids of deleted rows, because another transaction may have opened or purged an envelope since
        // the read.
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

/// Stores deliveries of envelopes to a webhook. Omits the envelopes that the owner has skipped. If a concurrent
/// transaction deletes the webhook, the next claim deletes the deliveries, and the envelopes wait again.
fn deliver(
    conn: &mut AnyConnection,
    key: &str,
    webhook_id: &str,
    envelopes: &[String],
    now: Timestamp,
) -> Result<(), QueryError> {
    let skipped = s::table.find(key).select(s::until).first::<String>(conn).optional()?;
    let skipped = skipped.unwrap_or_default();
    let wanted = envelopes.iter().filter(|id| **id > skipped);
    let row = |id: &String| DeliveryRow::new(id.clone(), webhook_id.to_owned(), now.as_millis());
    insert_missing(conn, &wanted.map(row).collect::<Vec<_>>(), DeliveryRow::KEY).map(drop)
}
