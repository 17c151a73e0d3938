//! A backlog of due deliveries to many webhooks, which a server drains after its start.

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
        Stage, database::Engine, identities::Population, nodes::Nodes, sealed, stored::put_backlog,
    },
};

pub(crate) fn run(bench: &Bench, engine: &Engine) -> Outcome {
    let population = Population { recipients: TARGETS, ..Population::MANY };
    let like = sealed::envelope(&bench.suite);
    let stage = Stage::set_with(bench, engine, (population, Nodes::One), |place, identities| {
        put_backlog(place, identities, &like, DUE);
    });
    let drained = drain(&stage, DUE);
    let sent = deliveries("live", &stage, stage.sends(64, bench.span(10)));
    let rates = drained.delivered_per_s.zip(sent.delivered_per_s);
    let ratio = rates.map_or(f64::NAN, |(drained, live)| drained / live);
    let finding = Finding::at_least("drained a second over delivered live", ratio, 0.8);
    Outcome { runs: vec![drained, sent], findings: vec![finding] }
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
