//! The cost of two nodes on one database: the same load on one and on two nodes, which share the cores or use
//! all cores each.

use super::Outcome;
use crate::{
    bench::Bench,
    measure::deliveries,
    report::Finding,
    stage::{Stage, database::Engine, identities::Population, nodes::Nodes},
};

pub(crate) fn run(bench: &Bench, engine: &Engine) -> Outcome {
    let on = |name, nodes| {
        let stage = Stage::set(bench, engine, Population::MANY, nodes);
        deliveries(name, &stage, stage.sends(64, bench.span(10)))
    };
    let one = on("one node", Nodes::One);
    let two = [on("two, half the cores", Nodes::TwoHalves), on("two, all cores each", Nodes::Two)];
    let findings = two.iter().map(|two| {
        let what = format!("CPU of an envelope on {}, over on one node", two.name);
        Finding::at_most(what, two.cpu_us() / one.cpu_us(), 1.15)
    });
    let findings = findings.collect();
    Outcome { runs: [one].into_iter().chain(two).collect(), findings }
}
