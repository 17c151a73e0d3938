//! Storing and completing an envelope and its delivery through the storage crate alone, without look-ups and
//! decisions.

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
        identities::{Identities, PAST},
        stored,
    },
};

pub(crate) fn measure(
    (place, engine): (&Place, &Engine),
    identities: &Identities,
    sealed: &Envelope,
    budget: Duration,
) -> f64 {
    let database = place.open();
    store_and_complete(&database, &batch(sealed, identities, 0)).expect("the batch can be stored");
    // The remaining work of the database's creation is not part of storing.
    place.settle_down();
    let elsewhere = engine.cpu();
    let (until, mut used, mut count) = (Instant::now() + budget, Duration::ZERO, 0);
    while Instant::now() < until {
        let changes = batch(sealed, identities, BATCH + count);
        let before = cpu::of_this_thread();
        store_and_complete(&database, &changes).expect("the batch can be stored");
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
    database.record_outcomes(&results, FAILING_MAX)
}

/// Returns envelopes to the recipients in turn. `first` is the number of the first envelope.
fn batch(sealed: &Envelope, identities: &Identities, first: u64) -> WriteSet {
    let mut changes = WriteSet::default();
    for number in first..first + BATCH {
        let envelope = stored::envelope(sealed, identities, number);
        changes.leased.push(stored::delivery(&envelope.meta, identities, number));
        changes.envelopes.push(Arc::new(envelope));
    }
    changes
}

fn success(held: &LeasedDelivery) -> AttemptResult {
    let (id, lease, outcome) = (held.id(), held.lease, Outcome::Succeeded);
    AttemptResult {
        id,
        lease,
        attempts: 1,
        at: PAST,
        duration_ms: 1,
        response: None,
        error_detail: None,
        outcome,
    }
}

/// No delivery fails here.
const FAILING_MAX: Duration = Duration::from_hours(1);
/// The number of connections in the load of the targets.
const BATCH: u64 = 64;
