//! The queue of deliveries. Nothing here waits for the disk: what a crash of the machine takes back is attempted
//! again when its lease ends.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use diesel::{dsl::exists, prelude::*};
use sealpost_domain::{
    DeliveryId, LeaseToken, LeasedDelivery, Outcome, RegistrationStatus, Settlement, Timestamp,
    ports::{Claim, Durability, Outbox, StoreError},
};

use crate::{
    batch::{self, End, Held, Note, RowId, TakenRow},
    columns,
    connection::AnyConnection,
    database::Database,
    fault::Fault,
    schema::deliveries,
    webhook,
};

impl Outbox for Database {
    fn claim(&self, claim: &Claim) -> Result<Vec<LeasedDelivery>, StoreError> {
        // Most sweeps find nothing: those ask without becoming the writer.
        if claim.limit == 0 || !self.read(|conn| is_any_due(conn, claim.now))? {
            return Ok(Vec::new());
        }
        self.transact(Durability::Relaxed, |conn| take_ready(conn, claim))
    }

    fn settle(&self, settlements: &[Settlement], _failing_max: Duration) -> Result<(), StoreError> {
        if settlements.is_empty() {
            return Ok(());
        }
        self.transact(Durability::Relaxed, |conn| {
            let ends = settlements.iter().map(end).collect::<Result<Vec<_>, _>>()?;
            write_ends(conn, &ends)
        })
    }

    fn release(
        &self,
        held: &[(DeliveryId, LeaseToken)],
        due_at: Timestamp,
    ) -> Result<(), StoreError> {
        if held.is_empty() {
            return Ok(());
        }
        let held: Vec<_> = held.iter().map(|(id, lease)| Held::new(id, *lease)).collect();
        self.transact(Durability::Relaxed, |conn| batch::release(conn, &held, due_at))
    }
}

/// Makes every delivery that anybody holds due at once.
pub(crate) fn release_every_lease(conn: &mut AnyConnection, now: Timestamp) -> Result<(), Fault> {
    diesel::update(deliveries::table.filter(deliveries::lease.is_not_null()))
        .set((deliveries::lease.eq(None::<i64>), deliveries::due_at.eq(Some(now.as_millis()))))
        .execute(conn)?;
    Ok(())
}

fn is_any_due(conn: &mut AnyConnection, now: Timestamp) -> Result<bool, Fault> {
    let due = deliveries::table.filter(deliveries::due_at.le(now.as_millis()));
    Ok(diesel::select(exists(due)).get_result(conn)?)
}

/// Takes until `limit` can be sent. What cannot be sent is put out of the way, so that it neither fills the claim nor
/// comes up at every sweep.
fn take_ready(conn: &mut AnyConnection, claim: &Claim) -> Result<Vec<LeasedDelivery>, Fault> {
    let mut ready = Vec::new();
    for _ in 0..ROUNDS_MAX {
        let room = claim.limit.saturating_sub(ready.len());
        let taken = batch::take(conn, claim, columns::number(room, "limit of a claim")?)?;
        let is_last = taken.len() < room;
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

enum Taken {
    /// Its registration is disabled.
    Disabled,
    /// Its registration or its envelope is gone.
    Orphan,
    Ready(LeasedDelivery),
}

impl TakenRow {
    fn id(&self) -> RowId {
        RowId { envelope_id: self.envelope_id.clone(), webhook_id: self.webhook_id.clone() }
    }

    fn read(self, claim: &Claim) -> Result<Taken, Fault> {
        let (Some((status, target)), Some(meta)) = (self.registration, self.envelope) else {
            return Ok(Taken::Orphan);
        };
        if status != RegistrationStatus::Enabled.as_str() {
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

fn end(settlement: &Settlement) -> Result<End, Fault> {
    let (failure, due_at) = match settlement.outcome {
        Outcome::Exhausted(failure) => (Some(failure.as_str()), None),
        Outcome::Gone => (Some("http_status"), None),
        Outcome::Retry { failure, due_at } => (Some(failure.as_str()), Some(due_at.as_millis())),
        Outcome::Succeeded => (None, None),
    };
    Ok(End {
        held: Held::new(&settlement.id, settlement.lease),
        attempts: columns::number(settlement.attempts, "number of attempts")?,
        at: settlement.at.as_millis(),
        failure,
        due_at,
    })
}

/// Registrations hear of an attempt only where its lease still held.
fn write_ends(conn: &mut AnyConnection, ends: &[End]) -> Result<(), Fault> {
    let (succeeded, failed): (Vec<_>, Vec<_>) = ends.iter().partition(|end| end.failure.is_none());
    let mut written = Vec::with_capacity(ends.len());
    if !succeeded.is_empty() {
        written.extend(batch::remove(conn, &succeeded)?);
    }
    if !failed.is_empty() {
        written.extend(batch::keep(conn, &failed)?);
    }
    let notes = notes(ends, &written);
    if notes.is_empty() { Ok(()) } else { batch::note(conn, &notes) }
}

/// One for each registration, in the order of ids.
fn notes(ends: &[End], written: &[RowId]) -> Vec<Note> {
    let by_id: BTreeMap<_, _> = ends.iter().map(|end| (&end.held.id, end)).collect();
    let mut notes = BTreeMap::new();
    for end in written.iter().filter_map(|id| by_id.get(id)) {
        let id = &end.held.id.webhook_id;
        let note =
            notes.entry(id).or_insert_with(|| Note { webhook_id: id.clone(), ..Note::default() });
        match end.failure {
            None => note.success_at = note.success_at.max(Some(end.at)),
            Some(_) if note.failure_at > Some(end.at) => {}
            failure @ Some(_) => (note.failure_at, note.failure) = (Some(end.at), failure),
        }
    }
    notes.into_values().collect()
}

/// How often a claim tries again for what it lacks after it has put things out of the way.
const ROUNDS_MAX: usize = 16;

/// When deliveries to a disabled registration are looked at again.
const PARKED_FOR: Duration = Duration::from_mins(5);
