//! The effect of stored rows, or of active identities, on the send rate.

use std::{thread, time::Duration};

use sealpost_domain::ports::StoreError;
use sealpost_storage::Reader;

use super::Outcome;
use crate::{
    bench::Bench,
    load::Load,
    measure::deliveries,
    report::{Finding, Run},
    stage::{
        Stage, database::Engine, identities::Population, nodes::Nodes, sealed, stored::Stored,
    },
};

pub(crate) fn run(bench: &Bench, engine: &Engine) -> Outcome {
    if let Some(active) = bench.active {
        let active = usize::try_from(active).expect("32 bits");
        return with_active(bench, engine, active);
    }
    // Runs with few rows before and after, so that a machine that slows down does not look like growth.
    let much = if bench.is_full { FULL } else { MANY };
    let runs = [FEW, much, FEW].map(|stored| with(bench, engine, stored));
    compared("delivered a second, with much stored over with little", 0.9, runs)
}

/// Compares the rate of the middle run with the mean of the others.
fn compared(what: &str, ratio_min: f64, runs: [Run; 3]) -> Outcome {
    let [before, middle, after] =
        runs.each_ref().map(|run| run.delivered_per_s.unwrap_or(f64::NAN));
    let ratio = middle / f64::midpoint(before, after);
    Outcome { runs: runs.into(), findings: vec![Finding::at_least(what, ratio, ratio_min)] }
}

/// Compares many senders and recipients that take turns with few. The database has no other rows.
fn with_active(bench: &Bench, engine: &Engine, many: usize) -> Outcome {
    let few = Population::MANY;
    let many = Population { senders: many, recipients: many, ..few };
    let runs = [few, many, few].map(|population| {
        let stage = Stage::set(bench, engine, population, Nodes::One);
        settle(&stage);
        let name = format!("{} active", population.senders);
        // Each sender sends once or more before the measurement, so that caches are warm. A first send takes about a
        // millisecond.
        let warm_up = Duration::from_millis(u64::try_from(population.senders).unwrap_or(0)) * 3 / 2;
        // As long as the interval of housekeeping, so that its work is measured too.
        let load = Load { warm_up, ..stage.sends(64, bench.span(60)) };
        deliveries(&name, &stage, load)
    });
    compared("delivered a second, with many active over with few", 0.85, runs)
}

/// Waits until the server has finished the work that new keys and webhooks cause: entries of the transparency log, and
/// transfers of waiting envelopes.
fn settle(stage: &Stage) {
    let database = stage.place.open();
    let is_busy = |reader: &mut Reader| {
        Ok::<_, StoreError>(reader.has_pending_statements(0)? || reader.has_waiting_transfers()?)
    };
    let is_settled = (0..SETTLES_WITHIN_S).any(|_| {
        thread::sleep(Duration::from_secs(1));
        !database.read(is_busy).expect("the database responds")
    });
    assert!(is_settled, "the work of new keys and webhooks has ended");
}

fn with(bench: &Bench, engine: &Engine, stored: Stored) -> Run {
    let like = sealed::envelope(&bench.suite);
    let stage =
        Stage::set_with(bench, engine, (Population::MANY, Nodes::One), |place, identities| {
            stored.put(place, identities, &like);
        });
    let name = format!("{} + {} stored", stored.envelopes, stored.keys);
    deliveries(&name, &stage, stage.sends(64, bench.span(10)))
}

const SETTLES_WITHIN_S: u32 = 900;
const FEW: Stored = Stored { envelopes: 1_000, keys: 1_000 };
const MANY: Stored = Stored { envelopes: 200_000, keys: 20_000 };
const FULL: Stored = Stored { envelopes: 10_000_000, keys: 1_000_000 };
