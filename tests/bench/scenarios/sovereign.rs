//! The throughput of the Sovereign plan from one key for a minute.
//!
//! The plan's limit of requests a minute would end the run after two seconds. Therefore the key has an
//! enterprise plan with other windows and the same throughput.

use super::Outcome;
use crate::{
    bench::Bench,
    load::{Load, Pace},
    measure::deliveries,
    report::Finding,
    stage::{
        Stage,
        database::Engine,
        identities::{Population, unbounded},
        nodes::Nodes,
    },
};

pub(crate) fn run(bench: &Bench, engine: &Engine) -> Outcome {
    let population = Population { senders: 1, plan: unbounded(PER_SECOND), ..Population::MANY };
    let stage = Stage::set(bench, engine, population, Nodes::One);
    let pace = Pace::Open { per_second: PER_SECOND };
    let load = Load { pace, ..stage.sends(64, bench.span(60)) };
    let run = deliveries("1,000 a second", &stage, load);
    let webhook = run.webhook_ms.unwrap_or_default();
    let refused: u64 =
        run.statuses.iter().filter(|(status, _)| **status != 200).map(|(_, count)| count).sum();
    let findings = vec![
        Finding::at_most("refused", crate::report::number(refused), 0.0),
        Finding::at_most("webhook p50 after the response, ms", webhook.p50, 10.0),
        Finding::at_most("webhook p99 after the response, ms", webhook.p99, 100.0),
    ];
    Outcome { runs: vec![run], findings }
}

const PER_SECOND: u32 = 1_000;
