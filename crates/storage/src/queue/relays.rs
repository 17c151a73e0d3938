//! Stores the connections of relays (webhooks whose receivers connect to the service), and finds the deliveries that
//! wait for such a connection.
//!
//! A waiting delivery has the lease [`AWAITING_RELAY`](crate::rows::delivery::AWAITING_RELAY), so that ordinary claims
//! skip it. The node with the connection finds the delivery in two ways: by its webhook when the connection is opened,
//! and among the newest waiting deliveries, which the node reads several times a second.

use std::{
    collections::{HashMap, HashSet},
    time::Duration,
};

use diesel::{
    dsl::{auto_type, exists},
    prelude::*,
    sql_types::{BigInt, Text},
};
use sealpost_domain::{
    ApiKeyId, KeyStatus, LeaseToken, RELAY_URL, Timestamp, TokenHash, WebhookId, WebhookStatus,
    ports::{OpenRelay, RelayConnection, RelayConnectionId, RelayEnd, StoreError},
};

use crate::{
    connection::{
        AnyConnection, on_backend,
        query_error::QueryError,
        transaction::{Reader, Transaction},
    },
    query::{
        any_of::any_of,
        row_lock::{Locked, RowLock},
        statement::Statement,
    },
    rows::{columns, delivery::awaits_relay},
    schema::{
        api_keys as k, api_tokens as t, deliveries as d, relay_connections as c, relay_nodes as n,
        sessions as s, webhooks as w,
    },
};

/// Returns the webhooks of deliveries that wait for a connection of the receiver and became due from `since` to `now`.
/// Reads at most the newest `limit` deliveries.
pub(crate) fn arrivals(
    conn: &mut AnyConnection,
    since: Timestamp,
    now: Timestamp,
    limit: i64,
) -> Result<HashSet<WebhookId>, QueryError> {
    let newest = d::table
        .filter(awaits_relay())
        .filter(d::due_at.between(since.as_millis(), now.as_millis()))
        .order(d::due_at.desc())
        .limit(limit)
        .select(d::webhook_id);
    let ids: HashSet<String> = newest.load(conn)?.into_iter().collect();
    ids.iter().map(|id| columns::id(id, "webhook")).collect()
}

/// Returns up to `limit` webhooks with deliveries that wait for a connection of the receiver. Begins after the id
/// `after`, in the order of ids. Visits each webhook once, so that the cost does not depend on the length of the
/// queues.
pub(crate) fn waiting(
    conn: &mut AnyConnection,
    after: &str,
    limit: i64,
) -> Result<Vec<WebhookId>, QueryError> {
    let ids = on_backend!(conn, c => {
        let visited = Statement::<_, Text>::query(
            "/* relays.waiting */ WITH RECURSIVE visited (webhook_id) AS (
                 SELECT * FROM (
                     SELECT d.webhook_id FROM deliveries AS d
                     WHERE d.lease = -1 AND d.webhook_id > ? ORDER BY d.webhook_id LIMIT 1
                 ) AS first
                 UNION ALL
                 SELECT (
                     SELECT d.webhook_id FROM deliveries AS d
                     WHERE d.lease = -1 AND d.webhook_id > visited.webhook_id
                     ORDER BY d.webhook_id LIMIT 1
                 ) FROM visited WHERE visited.webhook_id IS NOT NULL
             )
             SELECT webhook_id FROM visited WHERE webhook_id IS NOT NULL LIMIT ?",
        );
        visited.bind::<Text, _>(after).bind::<BigInt, _>(limit).load::<String>(c)
    })?;
    ids.iter().map(|id| columns::id(id, "webhook")).collect()
}

impl Reader {
    /// Counts the open connections to each of these webhooks. Omits webhooks without a connection. Does not count
    /// connections that their nodes have not [renewed](Transaction::renew_relays) in time.
    pub fn count_relays(
        &mut self,
        webhooks: &[WebhookId],
        now: Timestamp,
    ) -> Result<HashMap<WebhookId, u64>, StoreError> {
        self.run(|conn| count(conn, webhooks, now))
    }

    /// Returns the open connections to a webhook, oldest first. Omits connections that their nodes have not
    /// [renewed](Transaction::renew_relays) in time.
    pub fn relays_of(
        &mut self,
        webhook: &WebhookId,
        now: Timestamp,
    ) -> Result<Vec<OpenRelay>, StoreError> {
        let connections = c::table
            .inner_join(n::table.on(n::node.eq(c::node)))
            .filter(c::webhook_id.eq(webhook.to_string()))
            .filter(n::expires_at.gt(now.as_millis()))
            .filter(n::expires_at.le(last_expiry(now)))
            .order((c::connected_at, c::id))
            .select((c::id, c::connected_at, c::client_address));
        self.load(connections, |(id, at, client_address)| {
            let (id, connected_at) = (RelayConnectionId(id), Timestamp::from_millis(at));
            Ok(OpenRelay { id, connected_at, client_address })
        })
    }

    /// Returns the relay connections of a node that were opened before `before`.
    pub fn relays_of_node(
        &mut self,
        node: LeaseToken,
        before: Timestamp,
    ) -> Result<Vec<RelayConnectionId>, StoreError> {
        let connections = c::table
            .filter(c::node.eq(node.0))
            .filter(c::connected_at.lt(before.as_millis()))
            .select(c::id);
        self.load(connections, |id| Ok(RelayConnectionId(id)))
    }

    /// Counts the relay connections of a node.
    pub fn count_relays_of_node(&mut self, node: LeaseToken) -> Result<u64, StoreError> {
        self.number(c::table.filter(c::node.eq(node.0)).count(), "number of connections")
    }

    /// Returns true if [`Transaction::check_relays`] has connections of a node to check: their webhook, key or token
    /// may have changed or expired.
    pub fn has_unchecked_relays(
        &mut self,
        node: LeaseToken,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        self.run(|conn| {
            Ok(diesel::select(exists(unchecked(node.0, now.as_millis()))).get_result(conn)?)
        })
    }
}

impl Transaction {
    /// Stores a connection to a webhook, unless the webhook already has `max` connections. Returns the number of its
    /// other connections.
    ///
    /// Locks the key, the webhook and the token. The first [check](Self::check_relays) therefore sees all earlier
    /// changes of these rows. A later change waits for this transaction. The database trigger of the change then finds
    /// the connection, and requests a check.
    pub fn insert_relay(
        &mut self,
        key: &ApiKeyId,
        connection: &RelayConnection,
        max: u64,
    ) -> Result<u64, StoreError> {
        let RelayConnection { id, node, webhook_id, token, connected_at, client_address } =
            *connection;
        self.lock_key(key)?;
        // The lock makes concurrent connections to the same webhook wait, so that `max` is exact.
        self.lock_webhook(key, &webhook_id)?;
        self.run(|conn| {
            lock_token(conn, &token)?;
            let counts = count(conn, &[webhook_id], connected_at)?;
            let others = counts.get(&webhook_id).copied().unwrap_or_default();
            if others < max {
                diesel::insert_into(c::table)
                    .values((
                        c::id.eq(id.0),
                        c::node.eq(node.0),
                        c::api_key_id.eq(key.to_string()),
                        c::webhook_id.eq(webhook_id.to_string()),
                        c::token.eq(token.0.to_vec()),
                        c::connected_at.eq(connected_at.as_millis()),
                        c::client_address.eq(client_address.map(|address| address.to_string())),
                        c::check_at.eq(0),
                    ))
                    .execute(conn)?;
            }
            Ok(others)
        })
    }

    /// Checks those connections of a node whose webhook, key or token may have changed or expired. Returns the
    /// connections that must close, each with the reason. Later calls return these connections again until they are
    /// deleted.
    pub fn check_relays(
        &mut self,
        node: LeaseToken,
        now: Timestamp,
    ) -> Result<Vec<(RelayConnectionId, RelayEnd)>, StoreError> {
        self.run(|conn| {
            // If another transaction has locked the row of a connection, that transaction is requesting a check of the
            // connection. Such a row is not in `free` and stays unchanged, so the connection is checked again after
            // that transaction.
            let free = Locked::new(
                unchecked(node.0, now.as_millis()).select(c::id),
                RowLock::SharedIfFree,
            );
            let free: HashSet<i64> = on_backend!(conn, c => free.load(c))?.into_iter().collect();
            // A second statement sees all changes that were committed before the locks were taken.
            let standing = unchecked(node.0, now.as_millis())
                .left_join(w::table.on(w::id.eq(c::webhook_id)))
                .left_join(k::table.on(k::id.nullable().eq(w::api_key_id.nullable())))
                .left_join(s::table.on(s::token.eq(c::token)))
                .left_join(t::table.on(t::token.eq(c::token)))
                .select((
                    c::id,
                    (w::url, w::status, w::paused).nullable(),
                    k::status.nullable(),
                    s::expires_at.nullable(),
                    t::expires_at.nullable(),
                ));
            let rows = on_backend!(conn, c => standing.load::<StandingRow>(c))?;
            let mut ended = Vec::new();
            for (id, webhook, key, session, api_token) in rows {
                let expires_at = session.or(api_token);
                if let Some(end) = reason(webhook, key.as_deref(), expires_at, now) {
                    ended.push((RelayConnectionId(id), end));
                } else if let Some(expires_at) = expires_at.filter(|_| free.contains(&id)) {
                    let checked = diesel::update(c::table.find(id)).set(c::check_at.eq(expires_at));
                    checked.execute(conn)?;
                }
            }
            Ok(ended)
        })
    }

    /// Deletes a relay connection.
    pub fn delete_relay(&mut self, id: RelayConnectionId) -> Result<(), StoreError> {
        self.execute(diesel::delete(c::table.find(id.0))).map(drop)
    }

    /// Renews the connections of a node until `until`: stores this time in the row of the node in `relay_nodes`.
    /// Returns `false` if there was no row: at the first call, or because another node has deleted the row with the
    /// connections.
    ///
    /// Deletes the expired rows of other nodes, and the connections of these nodes. A row also counts as expired if its
    /// time is so late that a wrong clock must have set it. `now` and `until` are [shared](Reader::shared_time) times,
    /// because the clocks of nodes differ.
    pub fn renew_relays(
        &mut self,
        node: LeaseToken,
        now: Timestamp,
        until: Timestamp,
    ) -> Result<bool, StoreError> {
        self.run(|conn| {
            let (now, last) = (now.as_millis(), last_expiry(now));
            let is_expired = || n::expires_at.lt(now).or(n::expires_at.gt(last));
            let expired = n::table.filter(is_expired()).order(n::node).select(n::node);
            let expired: Vec<i64> = expired.load(conn)?;
            for dead in expired.into_iter().filter(|dead| *dead != node.0) {
                // The node may have renewed its row since the search.
                let row = n::table.find(dead).filter(is_expired());
                if diesel::delete(row).execute(conn)? == 1 {
                    diesel::delete(c::table.filter(c::node.eq(dead))).execute(conn)?;
                }
            }
            let expires_at = n::expires_at.eq(until.as_millis());
            if diesel::update(n::table.find(node.0)).set(expires_at).execute(conn)? == 1 {
                return Ok(true);
            }
            let row = diesel::insert_into(n::table)
                .values((n::node.eq(node.0), expires_at))
                .on_conflict(n::node)
                .do_update()
                .set(expires_at);
            on_backend!(conn, c => row.execute(c))?;
            Ok(false)
        })
    }
}

/// Locks the row of a session or API token until the transaction ends.
fn lock_token(conn: &mut AnyConnection, token: &TokenHash) -> Result<(), QueryError> {
    let session = s::table.find(token.0.to_vec()).select(s::expires_at);
    let api_token = t::table.filter(t::token.eq(token.0.to_vec())).select(t::expires_at);
    let session = Locked::new(session, RowLock::Shared);
    let api_token = Locked::new(api_token, RowLock::Shared);
    on_backend!(conn, c => session.load::<i64>(c))?;
    on_backend!(conn, c => api_token.load::<i64>(c))?;
    Ok(())
}

fn count(
    conn: &mut AnyConnection,
    webhooks: &[WebhookId],
    now: Timestamp,
) -> Result<HashMap<WebhookId, u64>, QueryError> {
    let connected = c::table
        .inner_join(n::table.on(n::node.eq(c::node)))
        .filter(any_of(c::webhook_id, columns::texts(webhooks)))
        .filter(n::expires_at.gt(now.as_millis()))
        .filter(n::expires_at.le(last_expiry(now)))
        .select(c::webhook_id);
    let mut counts = HashMap::new();
    for id in on_backend!(conn, c => connected.load::<String>(c))? {
        *counts.entry(columns::id(&id, "webhook")?).or_default() += 1;
    }
    Ok(counts)
}

/// Returns the latest valid `expires_at` of a row in `relay_nodes`, in milliseconds. A row with a later time was
/// written before the clock was set back, and counts as expired.
fn last_expiry(now: Timestamp) -> i64 {
    now.plus(EXPIRY_AHEAD_MAX).as_millis()
}

/// Selects the connections of a node that must be checked. `now` is in milliseconds.
#[auto_type(no_type_alias)]
fn unchecked(node: i64, now: i64) -> _ {
    c::table.filter(c::node.eq(node)).filter(c::check_at.le(now))
}

/// The id of a connection, and the columns that decide whether it must close: URL, status and pause of the webhook,
/// status of the key, expiry of the session, expiry of the API token. A column is `None` if its row does not exist.
type StandingRow = (i64, Option<(String, String, bool)>, Option<String>, Option<i64>, Option<i64>);

fn reason(
    webhook: Option<(String, String, bool)>,
    key: Option<&str>,
    expires_at: Option<i64>,
    now: Timestamp,
) -> Option<RelayEnd> {
    let Some((url, status, is_paused)) = webhook else { return Some(RelayEnd::WebhookDeleted) };
    if url != RELAY_URL {
        return Some(RelayEnd::UrlChanged);
    }
    if status != WebhookStatus::Enabled.as_str() {
        return Some(RelayEnd::WebhookDisabled);
    }
    if is_paused {
        return Some(RelayEnd::WebhookPaused);
    }
    if key != Some(KeyStatus::Active.as_str()) {
        return Some(RelayEnd::KeyInactive);
    }
    let is_live = expires_at.is_some_and(|end| end > now.as_millis());
    (!is_live).then_some(RelayEnd::TokenEnded)
}

/// Maximum time between now and `expires_at` of a row in `relay_nodes`: twice the time for which a renewal is valid.
const EXPIRY_AHEAD_MAX: Duration = Duration::from_secs(12);
