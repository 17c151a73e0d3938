//! Checks that the bench works: every kind of load for a moment.

use std::time::Duration;

use super::{Outcome, backlog::drain, horizon, steady};
use crate::{
    bench::Bench,
    load::{Load, Pace},
    measure::{deliveries, refusals},
    stage::{
        Stage,
        database::Engine,
        identities::{Population, send_request},
        nodes::Nodes,
        sealed,
        stored::put_backlog,
    },
};

pub(crate) fn run(bench: &Bench, engine: &Engine) -> Outcome {
    let population = Population { senders: 4, recipients: 4, ..Population::MANY };
    let like = sealed::envelope(&bench.suite);
    let stage = Stage::set_with(bench, engine, (population, Nodes::One), |place, identities| {
        put_backlog(place, identities, &like, DUE);
    });
    let closed = stage.sends(4, MOMENT);
    let open = Load { pace: Pace::Open { per_second: 20 }, ..closed.clone() };
    let requests = vec![send_request("nobody's", "", "{}")].into();
    let refused = Load { requests, ..closed.clone() };
    let mut runs = vec![
        drain(&stage, DUE),
        deliveries("closed", &stage, closed),
        deliveries("open", &stage, open),
        refusals("refused", &stage, refused, 401, 0),
    ];
    drop(stage);
    runs.extend(steady::moment(bench, engine, population));
    if matches!(engine, Engine::Postgres(_)) {
        runs.extend(horizon::minute(bench, engine, population));
    }
    Outcome { runs, ..Outcome::default() }
}

const DUE: u64 = 20;
const MOMENT: Duration = Duration::from_millis(300);
