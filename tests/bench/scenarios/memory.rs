//! Resident memory under load, for longer than caches need to fill.

use super::Outcome;
use crate::{
    bench::Bench,
    measure::deliveries,
    report::Finding,
    stage::{Stage, database::Engine, identities::Population, nodes::Nodes},
};

pub(crate) fn run(bench: &Bench, engine: &Engine) -> Outcome {
    let stage = Stage::set(bench, engine, Population::MANY, Nodes::One);
    let run = deliveries("sends", &stage, stage.sends(64, bench.span(60)));
    let memory = &run.memory_mib;
    let findings = vec![
        Finding::at_most("peak of resident memory, MiB", memory.peak, 96.0),
        Finding::at_most("at the end over in the middle", memory.last / memory.middle, 1.05),
    ];
    Outcome { runs: vec![run], findings }
}
