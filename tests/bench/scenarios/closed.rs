//! The send path under a closed loop with a fixed number of connections.

use super::Outcome;
use crate::{
    bench::Bench,
    measure::deliveries,
    report::{Finding, Run},
    stage::{Stage, database::Engine, identities::Population, nodes::Nodes},
};

pub(crate) fn one(bench: &Bench, engine: &Engine) -> Outcome {
    let run = on(bench, engine, 1);
    let findings = vec![Finding::at_most("median of a response, ms", run.answer_ms.p50, 0.8)];
    Outcome { runs: vec![run], findings }
}

pub(crate) fn sixteen(bench: &Bench, engine: &Engine) -> Outcome {
    Outcome { runs: vec![on(bench, engine, 16)], findings: Vec::new() }
}

pub(crate) fn sixty_four(bench: &Bench, engine: &Engine) -> Outcome {
    let run = on(bench, engine, 64);
    let per_second = if bench.suite == "channel" { 11_000.0 } else { 5_500.0 };
    let delivered = run.delivered_per_s.unwrap_or(0.0).min(run.answered_per_s);
    let findings = vec![
        Finding::at_least("sent and delivered a second", delivered, per_second),
        Finding::at_most("p99 of a response, ms", run.answer_ms.p99, 30.0),
    ];
    Outcome { runs: vec![run], findings }
}

fn on(bench: &Bench, engine: &Engine, connections: usize) -> Run {
    let stage = Stage::set(bench, engine, Population::MANY, Nodes::One);
    deliveries("sends", &stage, stage.sends(connections, bench.span(10)))
}
