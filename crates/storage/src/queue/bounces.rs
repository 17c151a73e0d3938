//! Bounces undeliverable envelopes: stores an event for the sender of each.
//!
//! The table `envelope_outcomes` has at most one row for each envelope: `bounced`, or `announced` (delivered to a
//! webhook). So an envelope bounces at most once, and an announced envelope never bounces.
//!
//! An envelope with a success in the attempt log does not bounce either, so most successes need no row. `announced` is
//! recorded in three cases:
//!
//! - The envelope still has other deliveries.
//! - A webhook is deleted, and its attempts with it.
//! - The success is recorded without the attempt log: see [`outcomes::record`](crate::queue::outcomes::record).

use std::collections::{BTreeMap, BTreeSet, HashSet};

use diesel::{dsl::sql, prelude::*, sql_types::Bool};
use sealpost_domain::{
    BounceReason, EnvelopeFate, EnvelopeId, KeyStatus, Timestamp, UnopenedEnvelope,
};

use crate::{
    connection::{AnyConnection, on_backend, query_error::QueryError},
    query::{
        any_of::any_of,
        row_lock::{Locked, RowLock},
    },
    queue::{events, statements, waiting},
    rows::columns,
    schema::{
        api_keys as k, attempts as a, deliveries as d, envelope_outcomes as o, envelopes as e,
    },
};

/// Records the end of deliveries. `delivered` and `exhausted` are ids of events; events without an envelope are
/// skipped.
///
/// The envelopes of `delivered` get the outcome `announced` (delivered to a webhook). The last attempts for those of
/// `exhausted` failed: [`settle`] decides if they bounce or wait. It needs locks on them, and all transactions lock
/// envelopes before they insert outcomes, so this function begins with these locks.
pub(crate) fn end(
    conn: &mut AnyConnection,
    delivered: &[String],
    exhausted: impl IntoIterator<Item = impl AsRef<str>>,
    now: Timestamp,
) -> Result<(), QueryError> {
    let exhausted = envelopes_of(exhausted);
    if exhausted.is_empty() {
        return announce(conn, delivered, now);
    }
    lock(conn, &exhausted)?;
    announce(conn, delivered, now)?;
    settle_locked(conn, &exhausted, now)
}

/// Records the outcome `announced` (delivered to a webhook) for the envelopes among `events`, so that these envelopes
/// cannot bounce. Skips events that are not envelopes.
pub(crate) fn announce(
    conn: &mut AnyConnection,
    events: impl IntoIterator<Item = impl AsRef<str>>,
    now: Timestamp,
) -> Result<(), QueryError> {
    let envelopes = envelopes_of(events);
    if !envelopes.is_empty() {
        statements::insert_outcomes(conn, &envelopes, ANNOUNCED, now)?;
    }
    Ok(())
}

/// Decides whether undelivered envelopes bounce or wait. `events` are ids; an envelope and its event have the same id.
/// Skips other events. Before the call, the caller must have ended a delivery of each event without success.
///
/// Does not change envelopes that were opened, that a webhook has received, or that have an outcome in
/// `envelope_outcomes`. [`UnopenedEnvelope::fate`] decides about each other envelope.
///
/// Locks the envelopes first. If two transactions end the last two deliveries of an envelope, the second therefore sees
/// the changes of the first.
pub(crate) fn settle(
    conn: &mut AnyConnection,
    events: impl IntoIterator<Item = impl AsRef<str>>,
    now: Timestamp,
) -> Result<(), QueryError> {
    let envelopes = envelopes_of(events);
    if envelopes.is_empty() {
        return Ok(());
    }
    lock(conn, &envelopes)?;
    settle_locked(conn, &envelopes, now)
}

fn settle_locked(
    conn: &mut AnyConnection,
    envelopes: &BTreeSet<String>,
    now: Timestamp,
) -> Result<(), QueryError> {
    let (mut bounced, mut waiting) = (Vec::new(), Vec::new());
    for envelope in find_unopened(conn, envelopes)? {
        match envelope.fate() {
            EnvelopeFate::Bounces(reason) => bounced.push((envelope, reason)),
            EnvelopeFate::Pending => {}
            EnvelopeFate::Waits => waiting.push(envelope),
        }
    }
    waiting::wait(conn, &waiting, now)?;
    bounce(conn, &bounced, now)
}

/// Locks envelopes in the order of ids. Does nothing on SQLite.
pub(crate) fn lock(
    conn: &mut AnyConnection,
    envelopes: impl IntoIterator<Item = impl Into<String>>,
) -> Result<(), QueryError> {
    if let AnyConnection::Postgres(pg) = conn {
        let rows = e::table.filter(any_of(e::id, envelopes)).order(e::id).select(e::id);
        Locked::new(rows, RowLock::Alone).load::<String>(pg)?;
    }
    Ok(())
}

/// Bounces each envelope without a row in `envelope_outcomes`: records `bounced`, and stores an event for its sender.
/// The caller must leave out the envelopes that a webhook has [received](received).
pub(crate) fn bounce(
    conn: &mut AnyConnection,
    bounced: &[(UnopenedEnvelope, BounceReason)],
    now: Timestamp,
) -> Result<(), QueryError> {
    let ids: BTreeSet<_> = bounced.iter().map(|(envelope, _)| envelope.id.to_string()).collect();
    if ids.is_empty() {
        return Ok(());
    }
    let first: HashSet<_> =
        statements::insert_outcomes(conn, &ids, BOUNCED, now)?.into_iter().collect();
    let first = bounced.iter().filter(|(envelope, _)| first.contains(&envelope.id.to_string()));
    let new: Vec<_> = first.map(|(envelope, reason)| envelope.bounced(*reason, now)).collect();
    events::store(conn, &new)?;
    Ok(())
}

/// Returns the event ids that are envelope ids. The result is sorted, because transactions lock and insert the rows of
/// envelopes in this order.
fn envelopes_of(events: impl IntoIterator<Item = impl AsRef<str>>) -> BTreeSet<String> {
    let envelopes = events.into_iter().filter(|id| id.as_ref().starts_with(EnvelopeId::PREFIX));
    envelopes.map(|id| id.as_ref().to_owned()).collect()
}

/// Returns the undecided envelopes among `ids`: not opened, not received by a webhook, and without a row in
/// `envelope_outcomes`.
///
/// Reads the deliveries before `envelope_outcomes`, because a success deletes its delivery and inserts `announced` in
/// one transaction. In the reverse order, this function could miss both changes, and the delivered envelope would wait
/// for another webhook.
fn find_unopened(
    conn: &mut AnyConnection,
    ids: &BTreeSet<String>,
) -> Result<Vec<UnopenedEnvelope>, QueryError> {
    let left =
        d::table.filter(any_of(d::event_id, ids)).select((d::event_id, d::due_at.is_not_null()));
    let mut deliveries = BTreeMap::<String, (bool, bool)>::new();
    for (id, is_pending) in on_backend!(conn, c => left.load::<(String, bool)>(c))? {
        let (pending, exhausted) = deliveries.entry(id).or_default();
        *pending |= is_pending;
        *exhausted |= !is_pending;
    }
    let decided = o::table.filter(any_of(o::envelope_id, ids)).select(o::envelope_id);
    let unopened = e::table
        .filter(any_of(e::id, ids))
        .filter(e::opened_at.is_null())
        .filter(e::id.ne_all(decided))
        .order(e::id)
        .select((e::id, e::sender, e::recipient));
    let unopened = on_backend!(conn, c => unopened.load::<(String, String, String)>(c))?;
    let received = received(conn, unopened.iter().map(|(id, ..)| id))?;
    let recipients: BTreeSet<_> = unopened.iter().map(|(_, _, recipient)| recipient).collect();
    let revoked = k::table
        .filter(any_of(k::id, recipients))
        .filter(k::status.eq(KeyStatus::Revoked.as_str()))
        .select(k::id);
    let revoked: HashSet<String> =
        on_backend!(conn, c => revoked.load::<String>(c))?.into_iter().collect();
    let read = |(id, sender, recipient): &(String, String, String)| {
        let (is_pending, is_exhausted) = deliveries.get(id).copied().unwrap_or_default();
        Ok(UnopenedEnvelope {
            id: columns::id(id, "envelope")?,
            sender: columns::id(sender, "envelope")?,
            recipient: columns::id(recipient, "envelope")?,
            is_recipient_revoked: revoked.contains(recipient),
            is_pending,
            is_exhausted,
        })
    };
    unopened.iter().filter(|(id, ..)| !received.contains(id)).map(read).collect()
}

/// Returns the ids of the envelopes among `ids` that a webhook has received, according to the attempt log.
pub(crate) fn received(
    conn: &mut AnyConnection,
    ids: impl ExactSizeIterator<Item = impl Into<String>>,
) -> Result<HashSet<String>, QueryError> {
    if ids.len() == 0 {
        return Ok(HashSet::new());
    }
    // The outcome is a literal, not a parameter, so that both databases use the partial index.
    let succeeded =
        a::table.filter(any_of(a::event_id, ids)).filter(sql::<Bool>("outcome = 'succeeded'"));
    let events = succeeded.select(a::event_id);
    Ok(on_backend!(conn, c => events.load::<String>(c))?.into_iter().collect())
}

pub(crate) const ANNOUNCED: &str = "announced";
pub(crate) const BOUNCED: &str = "bounced";
