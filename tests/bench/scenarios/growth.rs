//! The effect of stored rows on the send rate. All runs have the same senders and recipients.

use super::Outcome;
use crate::{
    bench::Bench,
    floors::sealed_envelope,
    measure::deliveries,
    report::{Finding, Run},
    stage::{Stage, database::Engine, identities::Population, nodes::Nodes, stored::Stored},
};

pub(crate) fn run(bench: &Bench, engine: &Engine) -> Outcome {
    // Runs with few rows before and after, so that a machine that slows down does not look like growth.
    let runs: Vec<Run> = [FEW, if bench.is_full { FULL } else { MANY }, FEW]
        .into_iter()
        .map(|stored| with(bench, engine, stored))
        .collect();
    let rates: Vec<f64> = runs.iter().filter_map(|run| run.delivered_per_s).collect();
    let findings = match *rates {
        [before, grown, after] => {
            let ratio = grown / f64::midpoint(before, after);
            vec![Finding::at_least(
                "delivered a second, with much stored over with little",
                ratio,
                0.9,
            )]
        }
        _ => Vec::new(),
    };
    Outcome { runs, findings, ..Outcome::default() }
}

fn with(bench: &Bench, engine: &Engine, stored: Stored) -> Run {
    let like = sealed_envelope(&bench.suite);
    let stage =
        Stage::set_with(bench, engine, (Population::MANY, Nodes::One), |place, identities| {
            stored.put(place, identities, &like);
        });
    let name = format!("{} + {} stored", stored.envelopes, stored.keys);
    deliveries(&name, &stage, stage.sends(64, bench.span(10)))
}

const FEW: Stored = Stored { envelopes: 1_000, keys: 1_000 };
const MANY: Stored = Stored { envelopes: 200_000, keys: 20_000 };
const FULL: Stored = Stored { envelopes: 10_000_000, keys: 1_000_000 };
