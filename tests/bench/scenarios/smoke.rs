//! Shows that the bench starts and ends: every kind of load, for a moment.

use std::time::Duration;

use super::{Outcome, backlog::drain};
use crate::{
    bench::Bench,
    floors::sealed_envelope,
    load::{Load, Pace},
    measure::{deliveries, refusals},
    stage::{
        Stage,
        database::Engine,
        nodes::Nodes,
        people::{Crowd, send_request},
        stored::put_backlog,
    },
};

pub(crate) fn run(bench: &Bench, engine: &Engine) -> Outcome {
    let crowd = Crowd { senders: 4, recipients: 4, ..Crowd::MANY };
    let like = sealed_envelope(&bench.suite);
    let stage = Stage::set_with(bench, engine, (crowd, Nodes::One), |place, people| {
        put_backlog(place, people, &like, DUE);
    });
    let closed = stage.sends(4, MOMENT);
    let open = Load { pace: Pace::Open { per_second: 20 }, ..closed.clone() };
    let requests = vec![send_request("nobody's", "", "{}")].into();
    let refused = Load { requests, ..closed.clone() };
    let runs = vec![
        drain(&stage, DUE),
        deliveries("closed", &stage, closed),
        deliveries("open", &stage, open),
        refusals("refused", &stage, refused, 401, 0),
    ];
    Outcome { runs, has_floors: true, ..Outcome::default() }
}

const DUE: u64 = 20;
const MOMENT: Duration = Duration::from_millis(300);
