//! Backlogs that a server drains after its start: due deliveries to many webhooks and to one, and envelopes that waited
//! for one webhook.

use std::{
    thread,
    time::{Duration, Instant},
};

use super::Outcome;
use crate::{
    bench::Bench,
    measure::deliveries,
    report::{Cpu, Finding, Run, per_second, share},
    stage::{
        Stage,
        database::Engine,
        identities::Population,
        nodes::Nodes,
        sealed,
        stored::{Put, put_backlog, put_waiting},
    },
};

pub(crate) fn run(bench: &Bench, engine: &Engine) -> Outcome {
    let drained_by_one = drain(&start(bench, engine, 1, put_backlog), DUE);
    let waited = drain(&start(bench, engine, 1, put_waiting), DUE);
    let stage = start(bench, engine, TARGETS, put_backlog);
    let drained = drain(&stage, DUE);
    let sent = deliveries("live", &stage, stage.sends(64, bench.span(10)));
    let rates = drained.delivered_per_s.zip(sent.delivered_per_s);
    let ratio = rates.map_or(f64::NAN, |(drained, live)| drained / live);
    let to_many = Finding::at_least("drained a second over delivered live", ratio, 0.8);
    let rates = waited.delivered_per_s.zip(drained_by_one.delivered_per_s);
    let ratio = rates.map_or(f64::NAN, |(waited, due)| waited / due);
    let to_new = Finding::at_least("waiting ones drained a second over due ones", ratio, 0.8);
    let drained_by_one = Run { name: format!("{DUE} due to one webhook"), ..drained_by_one };
    let waited = Run { name: format!("{DUE} waiting for one webhook"), ..waited };
    let runs = vec![drained, drained_by_one, waited, sent];
    Outcome { runs, findings: vec![to_many, to_new] }
}

/// Starts a server with a backlog that is spread evenly over the webhooks of `targets` keys.
fn start(bench: &Bench, engine: &Engine, targets: usize, put: Put) -> Stage {
    let population = Population { recipients: targets, ..Population::MANY };
    let like = sealed::envelope(&bench.suite);
    Stage::set_with(bench, engine, (population, Nodes::One), |place, identities| {
        put(place, identities, &like, DUE);
    })
}

/// Waits for all deliveries. The rate counts from the first to the last.
pub(crate) fn drain(stage: &Stage, due: u64) -> Run {
    let (server, database) = (stage.servers.first(), stage.engine.cpu());
    let started = Instant::now();
    while stage.receiver.count() < due && started.elapsed() < DRAIN_TIMEOUT {
        thread::sleep(Duration::from_millis(10));
    }
    let mut arrivals = stage.receiver.take();
    arrivals.sort_unstable_by_key(|(_, at)| *at);
    let span = arrivals.first().zip(arrivals.last()).map(|((_, first), (_, last))| *last - *first);
    let span = span.unwrap_or(DRAIN_TIMEOUT);
    let received = arrivals.len();
    arrivals.sort_unstable_by_key(|(id, _)| *id.as_bytes());
    arrivals.dedup_by_key(|(id, _)| *id);
    let lost = usize::try_from(due).unwrap_or(usize::MAX) - arrivals.len();
    let failure = (lost > 0).then(|| format!("{lost} of {due} were not delivered"));
    let database = stage.engine.cpu().zip(database);
    let database = database.map(|(after, before)| after.saturating_sub(before));
    Run {
        name: format!("{due} due"),
        seconds: span.as_secs_f64(),
        delivered_per_s: Some(per_second(due, span)),
        cpu_us: Cpu {
            server: server.map_or(f64::NAN, |server| share(server.cpu(), due)),
            database: database.map(|used| share(used, due)),
            receiver: Some(share(stage.receiver.cpu(), due)),
            generator: 0.0,
        },
        lost,
        duplicates: received - arrivals.len(),
        signatures_checked: stage.receiver.checked(),
        failures: failure.into_iter().collect(),
        ..Run::default()
    }
}

const TARGETS: usize = 1_000;
const DUE: u64 = 100_000;
const DRAIN_TIMEOUT: Duration = Duration::from_mins(5);
