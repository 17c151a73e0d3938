//! An envelope and its delivery, stored and completed through the storage crate alone: no look-up, no decision.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use sealpost_domain::{
    AttemptResult, Envelope, LeasedDelivery, Outcome,
    ports::{Durability, Outbox as _, Store, StoreError, WriteSet},
};
use sealpost_storage::Database;

use crate::{
    measure::cpu,
    report::share,
    stage::{
        database::{Engine, Place},
        people::{PAST, People},
        stored,
    },
};

pub(crate) fn measure(
    (place, engine): (&Place, &Engine),
    people: &People,
    sealed: &Envelope,
    budget: Duration,
) -> f64 {
    let database = place.open();
    store_and_complete(&database, &batch(sealed, people, 0)).expect("it can be stored");
    // What making the database left to be done is no part of storing.
    place.settle_down();
    let elsewhere = engine.cpu();
    let (until, mut used, mut count) = (Instant::now() + budget, Duration::ZERO, 0);
    while Instant::now() < until {
        let changes = batch(sealed, people, BATCH + count);
        let before = cpu::of_this_thread();
        store_and_complete(&database, &changes).expect("it can be stored");
        used += cpu::of_this_thread().saturating_sub(before);
        count += BATCH;
    }
    let elsewhere = engine.cpu().zip(elsewhere);
    let elsewhere = elsewhere.map(|(after, before)| after.saturating_sub(before));
    elsewhere.map_or(f64::NAN, |elsewhere| share(used + elsewhere, count))
}

fn store_and_complete(database: &Database, changes: &WriteSet) -> Result<(), StoreError> {
    let store: &dyn Store = database;
    store.write(Durability::Durable, |tx| tx.apply(changes))?;
    let results: Vec<_> = changes.leased.iter().map(success).collect();
    database.settle(&results, FAILING_MAX)
}

/// Envelopes to the recipients in turn, the first of which has this number.
fn batch(sealed: &Envelope, people: &People, first: u64) -> WriteSet {
    let mut changes = WriteSet::default();
    for number in first..first + BATCH {
        let envelope = stored::envelope(sealed, people, number);
        changes.leased.push(stored::delivery(&envelope.meta, people, number));
        changes.envelopes.push(Arc::new(envelope));
    }
    changes
}

fn success(held: &LeasedDelivery) -> AttemptResult {
    let (id, lease, outcome) = (held.id(), held.lease, Outcome::Succeeded);
    AttemptResult { id, lease, attempts: 1, at: PAST, duration_ms: 1, answer: None, outcome }
}

/// Nothing fails here.
const FAILING_MAX: Duration = Duration::from_hours(1);
/// As many as connections in the load that the targets are stated for.
const BATCH: u64 = 64;
