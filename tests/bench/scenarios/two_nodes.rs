//! Whether two nodes on one database cost each other anything: the same load on one and on two.

use super::Outcome;
use crate::{
    bench::Bench, database::Engine, measure::deliveries, people::Crowd, report::Finding,
    stage::Stage,
};

pub(crate) fn run(bench: &Bench, engine: &Engine) -> Outcome {
    let on = |name, nodes| {
        let stage = Stage::set(bench, engine, Crowd::MANY, nodes);
        deliveries(name, &stage, stage.sends(64, bench.span(10)))
    };
    let (one, two) = (on("one node", 1), on("two nodes", 2));
    let ratio = two.cpu_us() / one.cpu_us();
    let finding = Finding::at_most("CPU of an envelope, on two nodes over on one", ratio, 1.15);
    Outcome { runs: vec![one, two], findings: vec![finding], ..Outcome::default() }
}
