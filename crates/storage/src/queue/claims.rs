//! Claims: select due deliveries and lease them to a node. One webhook with a long queue does not delay the others: see
//! [`pick`]. The cost of a claim depends on its limit, not on the length of the queue.

use std::{
    collections::{BTreeSet, HashMap, HashSet},
    ops::RangeInclusive,
    sync::Arc,
};

use diesel::prelude::*;
use sealpost_domain::{LeasedDelivery, Timestamp, WebhookId, WebhookStatus, ports::Claim};

use crate::{
    connection::{AnyConnection, on_backend, query_error::QueryError},
    query::{
        any_of::any_of,
        row_lock::{Locked, RowLock},
    },
    queue::{
        bounces,
        claim_cursor::ClaimCursor,
        events::{self, StoredEvents},
        statements,
    },
    rows::{
        columns,
        delivery::{ClaimedRow, DeliveryKey, PARKED_FOR, is_leased},
        webhook::is_inactive,
    },
    schema::{deliveries, webhooks as w},
};

/// The time ranges that a claim searches, in milliseconds since the Unix epoch.
pub(crate) struct Search {
    /// The range of due times in which the claim searches deliveries without a lease.
    pub(crate) due: RangeInclusive<i64>,
    /// The range of lease ends in which the claim searches ended leases. `None` if no lease has ended.
    pub(crate) ended: Option<RangeInclusive<i64>>,
}

/// Searches for the earliest due delivery and the earliest ended lease, and stores their times in `cursor`. Returns the
/// time ranges that the claim must search. `None` if no delivery is due and no lease has ended.
pub(crate) fn search(
    conn: &mut AnyConnection,
    now: Timestamp,
    cursor: &ClaimCursor,
) -> QueryResult<Option<Search>> {
    let (due, ends) = (cursor.due_times(now), cursor.lease_ends(now));
    let first = deliveries::table.order(deliveries::due_at).select(deliveries::due_at).limit(1);
    let first_due = first
        .filter(deliveries::lease.is_null())
        .filter(deliveries::due_at.between(due.start(), due.end()))
        .first::<Option<i64>>(conn)
        .optional()?
        .flatten();
    let first_end = first
        .filter(is_leased())
        .filter(deliveries::due_at.between(ends.start(), ends.end()))
        .first::<Option<i64>>(conn)
        .optional()?
        .flatten();
    cursor.searched(now, first_due, first_end);
    let found = first_due.is_some() || first_end.is_some();
    Ok(found.then(|| Search { due, ended: first_end.map(|_| ends) }))
}

/// Ends expired leases, then leases due deliveries, up to the limit of the claim.
///
/// Deletes deliveries without a stored webhook or event. Parks a delivery (gives it a later due time) if its webhook is
/// disabled or paused, or if its event has expired. Otherwise the next claim would select the delivery again.
pub(crate) fn take_ready(
    conn: &mut AnyConnection,
    claim: &Claim,
    Search { due, ended }: &Search,
    cursor: &ClaimCursor,
) -> Result<Vec<LeasedDelivery>, QueryError> {
    if let Some(ends) = ended {
        statements::end_leases(conn, ends, ENDED_MAX)?;
    }
    let mut ready = Vec::new();
    for _ in 0..ROUNDS_MAX {
        let room = claim.limit.saturating_sub(ready.len());
        let picked = pick(conn, claim, due, room, cursor)?;
        let is_last = picked.len() < room;
        if !picked.is_empty() {
            lease(conn, claim, &picked, &mut ready)?;
        }
        if is_last || ready.len() >= claim.limit {
            break;
        }
    }
    Ok(ready)
}

/// Leases due deliveries to [relays](sealpost_domain::ports::Relays) (webhooks whose receivers connect to the service),
/// at most `claim.per_target_max` to each. The oldest events come first, so that deliveries from an ended connection
/// precede newer events.
pub(crate) fn take_for_relays(
    conn: &mut AnyConnection,
    webhooks: &[String],
    claim: &Claim,
) -> Result<Vec<LeasedDelivery>, QueryError> {
    let each = columns::number(claim.per_target_max, "limit of a claim")?;
    let picked = statements::awaiting_relay(conn, webhooks, claim.now, each)?;
    let mut ready = Vec::new();
    if !picked.is_empty() {
        lease(conn, claim, &picked, &mut ready)?;
    }
    ready.sort_unstable_by_key(|delivery| (delivery.event.timestamp(), delivery.event.id()));
    Ok(ready)
}

fn lease(
    conn: &mut AnyConnection,
    claim: &Claim,
    picked: &[DeliveryKey],
    ready: &mut Vec<LeasedDelivery>,
) -> Result<(), QueryError> {
    let (mut orphans, mut inactive, mut parked) = (Vec::new(), Vec::new(), Vec::new());
    let rows = statements::lease(conn, picked, claim)?;
    let stored = events::load(conn, &rows)?;
    for row in rows {
        let key = row.key();
        match row.read(claim, &stored) {
            Ok(Claimed::Ready(delivery)) => ready.push(delivery),
            Ok(Claimed::Orphan) => orphans.push(key),
            Ok(Claimed::Inactive) => inactive.push(key),
            Ok(Claimed::Expired) => parked.push(key),
            Err(fault) => {
                // The delivery is parked (gets a later due time), so that the other deliveries are sent. A newer
                // version of the server may be able to read the delivery.
                tracing::error!(
                    event.id = key.event_id,
                    ?fault,
                    "cannot read a delivery; it is tried again later"
                );
                parked.push(key);
            }
        }
    }
    if !orphans.is_empty() {
        statements::delete(conn, &orphans)?;
        bounces::settle(conn, orphans.iter().map(|key| &key.event_id), claim.now)?;
    }
    let mut due = Vec::new();
    if !inactive.is_empty() {
        let locked = lock_inactive(conn, &inactive)?;
        let (stays, changes): (Vec<_>, Vec<_>) =
            inactive.into_iter().partition(|key| locked.contains(&key.webhook_id));
        parked.extend(stays);
        due = changes;
    }
    for (keys, due_at) in [(due, claim.now), (parked, claim.now.plus(PARKED_FOR))] {
        if !keys.is_empty() {
            statements::park(conn, &keys, due_at)?;
        }
    }
    Ok(())
}

/// Locks the webhooks of these deliveries that are still disabled or paused, and returns their ids. Leaves out a
/// webhook that another transaction is changing.
///
/// A transaction that enables or resumes a webhook waits for the lock, then makes the parked (postponed) deliveries
/// due. Without the lock, it could miss a delivery that this transaction is parking.
fn lock_inactive(
    conn: &mut AnyConnection,
    deliveries: &[DeliveryKey],
) -> Result<HashSet<String>, QueryError> {
    let ids: BTreeSet<_> = deliveries.iter().map(|key| &key.webhook_id).collect();
    let inactive =
        w::table.filter(any_of(w::id, ids)).filter(is_inactive()).order(w::id).select(w::id);
    let locked = Locked::new(inactive, RowLock::SharedIfFree);
    Ok(on_backend!(conn, c => locked.load::<String>(c))?.into_iter().collect())
}

/// Selects up to `room` due deliveries and locks their rows. Skips the webhooks in `claim.full`, because the dispatcher
/// has no memory left for their deliveries. Selects in this order:
///
/// 1. the deliveries with the earliest due times, at most `per_target_max` to each webhook
/// 2. deliveries to webhooks with shorter queues, unless the first query found every due delivery
/// 3. further deliveries from the first query, so that one webhook can use the whole claim
fn pick(
    conn: &mut AnyConnection,
    claim: &Claim,
    due: &RangeInclusive<i64>,
    room: usize,
    cursor: &ClaimCursor,
) -> Result<Vec<DeliveryKey>, QueryError> {
    let limit = columns::number(room, "limit of a claim")?;
    let full: Vec<_> = claim.full.iter().map(WebhookId::to_string).collect();
    let oldest = statements::oldest_due(conn, due, limit, &full)?;
    let is_all = full.is_empty() && oldest.len() < room;
    let (mut picked, beyond, mut seen) = share_out(oldest, claim.per_target_max.max(1));
    let space = room - picked.len();
    if !is_all && space > 0 {
        seen.extend(full);
        let others = others_due(conn, due, &seen, cursor, space)?;
        if !others.is_empty() {
            let each_max = if beyond.is_empty() { space } else { claim.per_target_max };
            let each = (space / others.len()).clamp(1, each_max.max(1));
            let each = columns::number(each, "limit of a claim")?;
            picked.extend(statements::due_of(conn, &others, due, each)?);
        }
    }
    picked.extend(beyond);
    picked.truncate(room);
    Ok(picked)
}

/// Splits deliveries into two lists: the first `per_target_max` deliveries of each webhook, and all others. Also
/// returns the ids of the webhooks.
fn share_out(
    oldest: Vec<DeliveryKey>,
    per_target_max: usize,
) -> (Vec<DeliveryKey>, Vec<DeliveryKey>, BTreeSet<String>) {
    let mut counts = HashMap::<String, usize>::new();
    let (within, beyond) = oldest.into_iter().partition(|key| {
        let count = counts.entry(key.webhook_id.clone()).or_default();
        *count += 1;
        *count <= per_target_max
    });
    (within, beyond, counts.into_keys().collect())
}

/// Finds up to `limit` webhooks with due deliveries, except those in `seen`, from which this claim already takes some.
///
/// Begins with the webhooks of the most recently due deliveries, so that a webhook with a short queue need not wait
/// until the search has passed all others. Further webhooks follow in the order of ids, after the webhook in `cursor`,
/// at which the last claim stopped.
fn others_due(
    conn: &mut AnyConnection,
    due: &RangeInclusive<i64>,
    seen: &BTreeSet<String>,
    cursor: &ClaimCursor,
    limit: usize,
) -> Result<Vec<String>, QueryError> {
    let newest = deliveries::table
        .filter(deliveries::lease.is_null())
        .filter(deliveries::due_at.between(due.start(), due.end()))
        .order(deliveries::due_at.desc())
        .limit(RECENT_EXAMINED_MAX)
        .select(deliveries::webhook_id);
    let newest = newest.load::<String>(conn)?.into_iter();
    let newest: BTreeSet<_> = newest.filter(|id| !seen.contains(id)).collect();
    let from = cursor.webhook_id();
    let mut targets = statements::targets_above(conn, &from, *due.start(), STEPS_MAX)?;
    let left = STEPS_MAX - columns::number::<i64, _>(targets.len(), "number of targets")?;
    if left > 0 && !from.is_empty() {
        // At the end of the ids, the search continues from the first id up to the cursor.
        let first = statements::targets_above(conn, "", *due.start(), left)?;
        targets.extend(first.into_iter().take_while(|(id, _)| *id <= from));
    }
    let last_step = targets.last().map(|(id, _)| id.clone());
    let is_other =
        |(id, at): &(String, i64)| at <= due.end() && !seen.contains(id) && !newest.contains(id);
    let room = limit.saturating_sub(newest.len());
    let others: Vec<_> = targets.into_iter().filter(is_other).take(room).map(|it| it.0).collect();
    let reached = if others.len() == room { others.last().cloned() } else { last_step };
    cursor.move_to(reached.unwrap_or(from));
    Ok(newest.into_iter().take(limit).chain(others).collect())
}

enum Claimed {
    /// The event has expired, so the delivery is parked (gets a later due time). Housekeeping deletes the delivery.
    Expired,
    /// The webhook is disabled or paused, so the delivery is parked (gets a later due time).
    Inactive,
    /// The webhook or the event no longer exists, so the delivery is deleted.
    Orphan,
    Ready(LeasedDelivery),
}

impl ClaimedRow {
    fn key(&self) -> DeliveryKey {
        DeliveryKey { webhook_id: self.webhook_id.clone(), event_id: self.event_id.clone() }
    }

    fn read(self, claim: &Claim, stored: &StoredEvents) -> Result<Claimed, QueryError> {
        let Some((status, account_id, target)) = self.webhook else { return Ok(Claimed::Orphan) };
        let handle = self.sender_handle.as_deref();
        let Some(event) = events::read(&self.event_id, self.envelope, handle, stored)? else {
            return Ok(Claimed::Orphan);
        };
        if event.id().timestamp() < claim.oldest {
            return Ok(Claimed::Expired);
        }
        if status != WebhookStatus::Enabled.as_str() || target.paused {
            return Ok(Claimed::Inactive);
        }
        Ok(Claimed::Ready(LeasedDelivery {
            event,
            target: Arc::new(target.read(&account_id)?),
            target_read_at: claim.now,
            attempts: columns::number(self.attempts, "number of attempts")?,
            requested_at: columns::instant(self.requested_at),
            lease: claim.lease,
            lease_until: claim.lease_until,
        }))
    }
}

/// Maximum number of selections in one claim. A claim selects again if some of the selected deliveries were parked (got
/// a later due time) or deleted instead of leased.
const ROUNDS_MAX: usize = 16;

/// Maximum number of expired leases that one claim ends. Ending a lease makes its delivery due again.
const ENDED_MAX: i64 = 1_000;

/// Number of most recently due deliveries among which a claim looks for webhooks with short queues.
const RECENT_EXAMINED_MAX: i64 = 256;

/// Maximum number of webhooks that a claim visits in the order of ids to find short queues.
const STEPS_MAX: i64 = 512;
