//! The send path while old row versions cannot be removed, and after that.

use std::time::{Duration, Instant};

use super::Outcome;
use crate::{
    bench::Bench,
    load::{Load, Pace},
    measure::interval,
    report::{Finding, Run, mean, or_dash},
    stage::{Stage, database::Engine, horizon::Holder, identities::Population, nodes::Nodes},
};

pub(crate) fn closed(bench: &Bench, engine: &Engine) -> Outcome {
    run(bench, engine, Pace::Closed)
}

pub(crate) fn open(bench: &Bench, engine: &Engine) -> Outcome {
    run(bench, engine, Pace::Open { per_second: 3_000 })
}

/// Sends before, while the horizon is held for the length of a run, and for two minutes after its release.
fn run(bench: &Bench, engine: &Engine, pace: Pace) -> Outcome {
    let stage = Stage::set(bench, engine, Population::MANY, Nodes::One);
    let held = bench.span(1800);
    let lengths = Lengths {
        before: Duration::from_mins(3).min(held),
        held,
        after: Duration::from_mins(2).min(held),
        interval: Duration::from_secs(15).min(held / 4),
    };
    let [before, held, after] = measure(&stage, (64, pace), bench.holder, &lengths);
    let findings = findings(&before, &held, &after);
    let runs = [before, held, after].into_iter().flatten().map(|it| it.run).collect();
    Outcome { runs, findings }
}

/// A minute of the scenario, for the smoke test.
pub(crate) fn minute(bench: &Bench, engine: &Engine, population: Population) -> Vec<Run> {
    let stage = Stage::set(bench, engine, population, Nodes::One);
    let interval = Duration::from_secs(20);
    let lengths = Lengths {
        before: Duration::from_secs(1),
        held: Duration::from_mins(1),
        after: Duration::from_secs(1),
        interval,
    };
    let measured = measure(&stage, (4, Pace::Closed), Holder::Transaction, &lengths);
    measured.into_iter().flatten().map(|it| it.run).collect()
}

struct Lengths {
    before: Duration,
    held: Duration,
    after: Duration,
    interval: Duration,
}

struct Interval {
    run: Run,
    /// Bytes of the write-ahead log for each envelope, on PostgreSQL.
    wal_bytes: Option<f64>,
}

impl Interval {
    /// Returns the rate, corrected for the speed of the machine. The generator does the same work for each envelope, so
    /// its CPU time shows how fast the machine is.
    fn rate(&self) -> f64 {
        self.run.answered_per_s * self.run.cpu_us.generator
    }
}

fn measure(
    stage: &Stage,
    (connections, pace): (usize, Pace),
    holder: Holder,
    lengths: &Lengths,
) -> [Vec<Interval>; 3] {
    let sends = Load { pace, ..stage.sends(connections, lengths.interval) };
    println!("{HEAD}");
    let before = intervals(stage, &sends, "before", lengths.before);
    let sends = Load { warm_up: Duration::ZERO, ..sends };
    let horizon = stage.place.hold(holder);
    let held = intervals(stage, &sends, "held", lengths.held);
    drop(horizon);
    [before, held, intervals(stage, &sends, "released", lengths.after)]
}

fn intervals(stage: &Stage, sends: &Load, name: &str, total: Duration) -> Vec<Interval> {
    let (started, mut sends) = (Instant::now(), sends.clone());
    sends.span = sends.span.min(total);
    let mut intervals = Vec::new();
    while started.elapsed() < total {
        let (run, wal_bytes) = interval(stage, sends.clone());
        sends.warm_up = Duration::ZERO;
        let name = format!("{name} {:.0} s", started.elapsed().as_secs_f64());
        let interval = Interval { run: Run { name, ..run }, wal_bytes };
        interval.print();
        intervals.push(interval);
    }
    intervals
}

fn findings(before: &[Interval], held: &[Interval], after: &[Interval]) -> Vec<Finding> {
    // The first minute fills caches. Housekeeping runs once a minute, and not at the start.
    let before = before.get(4..).filter(|rest| !rest.is_empty()).unwrap_or(before);
    let rate = |among: &[Interval]| mean(among, Interval::rate);
    let minutes = held.chunks(4).map(rate);
    let p99 = |it: &Interval| it.run.answer_ms.p99;
    let tail = after.len().saturating_sub(4);
    let longest = after.iter().map(|it| it.run.answer_ms.max).fold(0.0, f64::max);
    let mut findings = vec![
        Finding::at_least(
            "rate in the worst minute while held over the rate before",
            minutes.fold(f64::INFINITY, f64::min) / rate(before),
            0.9,
        ),
        Finding::at_most(
            "p99 while held over p99 before",
            mean(held, p99) / mean(before, p99),
            2.0,
        ),
        Finding::at_least(
            "rate in the second minute after the release over the rate before",
            rate(after.get(tail..).unwrap_or(after)) / rate(before),
            0.95,
        ),
        Finding::at_most("longest response after the release, ms", longest, 250.0),
    ];
    if held.iter().all(|it| it.wal_bytes.is_some()) {
        let bytes = |it: &Interval| it.wal_bytes.unwrap_or(0.0);
        findings.push(Finding::at_most(
            "bytes of the log for an envelope while held, mean",
            mean(held, bytes),
            3200.0,
        ));
    }
    findings
}

impl Interval {
    fn print(&self) {
        println!(
            "{:<16}{:>8.0}{:>9.1}{:>9.1}{:>9.1}{:>9.1}{:>9.1}{:>8}",
            self.run.name,
            self.run.answered_per_s,
            self.run.answer_ms.p50,
            self.run.answer_ms.p99,
            self.run.answer_ms.max,
            self.run.cpu_us(),
            self.run.cpu_us.generator,
            or_dash(self.wal_bytes, 0),
        );
    }
}

const HEAD: &str = "interval           req/s  p50, ms  p99, ms  max, ms  cpu, us  gen, us  WAL, B";
