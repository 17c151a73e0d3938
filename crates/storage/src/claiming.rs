//! Which deliveries a claim takes: those that are due longest, but where that would be too many of one target and others
//! are due too, some of theirs. What each claim costs depends on its limit and not on how much waits.

use std::{
    collections::{BTreeSet, HashMap},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use diesel::prelude::*;
use sealpost_domain::{LeasedDelivery, Timestamp, WebhookStatus, ports::Claim};

use crate::{
    batch::{self, RowId, TakenRow},
    columns,
    connection::AnyConnection,
    fault::Fault,
    schema::deliveries,
    webhook,
};

/// Where the walk from target to target goes on at the next claim, so that everybody gets their turn.
pub(crate) type Walk = Mutex<String>;

/// Takes until `limit` can be sent. What cannot be sent is put out of the way, so that it neither fills the claim nor
/// comes up at every sweep.
pub(crate) fn take_ready(
    conn: &mut AnyConnection,
    claim: &Claim,
    walk: &Walk,
) -> Result<Vec<LeasedDelivery>, Fault> {
    let mut ready = Vec::new();
    for _ in 0..ROUNDS_MAX {
        let room = claim.limit.saturating_sub(ready.len());
        let picked = pick(conn, claim, room, walk)?;
        let is_last = picked.len() < room;
        let taken = if picked.is_empty() { vec![] } else { batch::lease(conn, &picked, claim)? };
        let (mut orphans, mut parked) = (Vec::new(), Vec::new());
        for row in taken {
            let id = row.id();
            match row.read(claim) {
                Ok(Taken::Ready(delivery)) => ready.push(delivery),
                Ok(Taken::Orphan) => orphans.push(id),
                Ok(Taken::Disabled) => parked.push(id),
                Err(fault) => {
                    // It must not keep the others from being sent. A newer version may be able to read it.
                    tracing::error!(envelope.id = id.envelope_id, ?fault, "unreadable delivery");
                    parked.push(id);
                }
            }
        }
        if !orphans.is_empty() {
            batch::discard(conn, &orphans)?;
        }
        if !parked.is_empty() {
            batch::park(conn, &parked, claim.now.plus(PARKED_FOR))?;
        }
        if is_last || ready.len() >= claim.limit {
            break;
        }
    }
    Ok(ready)
}

/// Up to `room` that are due, nobody else's now. Others than those of the longest queues are looked for only where the
/// room is full, and what they leave free goes to the longest queues again: a lone target gets all of it.
fn pick(
    conn: &mut AnyConnection,
    claim: &Claim,
    room: usize,
    walk: &Walk,
) -> Result<Vec<RowId>, Fault> {
    let oldest = batch::oldest_due(conn, claim.now, columns::number(room, "limit of a claim")?)?;
    let is_all = oldest.len() < room;
    let (mut picked, beyond, seen) = share_out(oldest, claim.per_target_max.max(1));
    if !is_all && !beyond.is_empty() {
        let space = beyond.len();
        let targets = others_due(conn, claim.now, &seen, walk, space)?;
        if !targets.is_empty() {
            let each = (space / targets.len()).clamp(1, claim.per_target_max.max(1));
            let each = columns::number(each, "limit of a claim")?;
            picked.extend(batch::due_of(conn, &targets, claim.now, each)?);
        }
    }
    picked.extend(beyond);
    picked.truncate(room);
    Ok(picked)
}

/// What is within the share of each target, what is beyond it, and which targets there are.
fn share_out(
    oldest: Vec<RowId>,
    per_target_max: usize,
) -> (Vec<RowId>, Vec<RowId>, BTreeSet<String>) {
    let mut counts = HashMap::<String, usize>::new();
    let (within, beyond) = oldest.into_iter().partition(|id| {
        let count = counts.entry(id.webhook_id.clone()).or_default();
        *count += 1;
        *count <= per_target_max
    });
    (within, beyond, counts.into_keys().collect())
}

/// Up to `limit` targets that are not `seen` and have something due: those of what became due last, since a long queue
/// is an old one, and others from where the last walk from target to target ended.
fn others_due(
    conn: &mut AnyConnection,
    now: Timestamp,
    seen: &BTreeSet<String>,
    walk: &Walk,
    limit: usize,
) -> Result<Vec<String>, Fault> {
    let mut newest = newest_due(conn, now)?;
    newest.retain(|id| !seen.contains(id));
    let from = walk.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let mut targets = batch::targets_above(conn, &from, STEPS_MAX)?;
    let left = STEPS_MAX - columns::number::<i64, _>(targets.len(), "number of targets")?;
    if left > 0 && !from.is_empty() {
        // Once around.
        let first = batch::targets_above(conn, "", left)?;
        targets.extend(first.into_iter().take_while(|(id, _)| *id <= from));
    }
    let last_step = targets.last().map(|(id, _)| id.clone());
    let is_other = |(id, at): &(String, i64)| {
        *at <= now.as_millis() && !seen.contains(id) && !newest.contains(id)
    };
    let room = limit.saturating_sub(newest.len());
    let walked: Vec<_> = targets.into_iter().filter(is_other).take(room).map(|it| it.0).collect();
    let reached = if walked.len() == room { walked.last().cloned() } else { last_step };
    *walk.lock().unwrap_or_else(PoisonError::into_inner) = reached.unwrap_or(from);
    Ok(newest.into_iter().take(limit).chain(walked).collect())
}

fn newest_due(conn: &mut AnyConnection, now: Timestamp) -> Result<BTreeSet<String>, Fault> {
    let newest = deliveries::table
        .filter(deliveries::due_at.le(now.as_millis()))
        .order(deliveries::due_at.desc())
        .limit(NEWEST_MAX)
        .select(deliveries::webhook_id);
    Ok(newest.load(conn)?.into_iter().collect())
}

enum Taken {
    /// Its webhook is disabled.
    Disabled,
    /// Its webhook or its envelope is gone.
    Orphan,
    Ready(LeasedDelivery),
}

impl TakenRow {
    fn id(&self) -> RowId {
        RowId { webhook_id: self.webhook_id.clone(), envelope_id: self.envelope_id.clone() }
    }

    fn read(self, claim: &Claim) -> Result<Taken, Fault> {
        let (Some((status, target)), Some(meta)) = (self.webhook, self.envelope) else {
            return Ok(Taken::Orphan);
        };
        if status != WebhookStatus::Enabled.as_str() {
            return Ok(Taken::Disabled);
        }
        Ok(Taken::Ready(LeasedDelivery {
            meta: Arc::new(meta.read()?),
            target: Arc::new(webhook::target(target)?),
            attempts: columns::number(self.attempts, "number of attempts")?,
            lease: claim.lease,
            lease_until: claim.lease_until,
        }))
    }
}

/// How often a claim tries again for what it lacks after it has put things out of the way.
const ROUNDS_MAX: usize = 16;

/// How many of the deliveries that became due last a claim looks at.
const NEWEST_MAX: i64 = 256;

/// How many targets a claim looks at in search of others than those of the longest queues.
const STEPS_MAX: i64 = 512;

/// When deliveries to a disabled webhook are looked at again, should nobody have enabled it, which wakes them.
pub(crate) const PARKED_FOR: Duration = Duration::from_mins(30);
