//! The send path while retention deletes as many rows as sends store, with a retention of minutes instead of days.

use std::time::{Duration, Instant};

use super::Outcome;
use crate::{
    bench::Bench,
    load::Load,
    measure::interval,
    report::{Finding, Run, mean, number, or_dash},
    stage::{
        Stage,
        database::{Engine, OldestRows},
        identities::Population,
        nodes::Nodes,
    },
};

/// Sends until the first retention has passed, and then for the length of a run.
pub(crate) fn run(bench: &Bench, engine: &Engine) -> Outcome {
    let retention = Duration::from_secs(bench.retention);
    let nodes = Nodes::Retaining(retention);
    let stage = Stage::set(bench, engine, Population::MANY, nodes);
    let lengths = Lengths {
        retention,
        total: retention + bench.span(1800),
        interval: (retention / 5).min(Duration::from_mins(1)),
    };
    let intervals = measure(&stage, 64, &lengths);
    let findings = findings(&intervals, &lengths);
    Outcome { runs: intervals.into_iter().map(|it| it.run).collect(), findings }
}

/// A moment of the scenario, for the smoke test.
pub(crate) fn moment(bench: &Bench, engine: &Engine, population: Population) -> Vec<Run> {
    let retention = Duration::from_millis(500);
    let stage = Stage::set(bench, engine, population, Nodes::Retaining(retention));
    let lengths = Lengths { retention, total: 3 * retention, interval: retention };
    measure(&stage, 4, &lengths).into_iter().map(|it| it.run).collect()
}

struct Lengths {
    retention: Duration,
    total: Duration,
    interval: Duration,
}

/// One interval of the scenario.
struct Interval {
    run: Run,
    /// Time from the start of the load to the end of the interval.
    until: Duration,
    /// Acknowledged envelopes since the start of the load.
    sent: f64,
    delivered_ratio: f64,
    /// Stored envelopes or attempts, the larger of both.
    stored: f64,
    /// The same over what retention allows.
    rows_ratio: f64,
    disk_mib: f64,
    /// Bytes of the write-ahead log for each envelope, on PostgreSQL.
    wal_bytes: Option<f64>,
}

fn measure(stage: &Stage, connections: usize, lengths: &Lengths) -> Vec<Interval> {
    let started = Instant::now();
    let mut intervals = Vec::<Interval>::new();
    let mut sends = stage.sends(connections, lengths.interval);
    println!("{HEAD}");
    while started.elapsed() < lengths.total {
        let delivered = stage.receiver.count();
        let (run, wal_bytes) = interval(stage, sends.clone());
        sends = Load { warm_up: Duration::ZERO, ..sends };
        let until = started.elapsed();
        let sent_before = intervals.last().map_or(0.0, |it| it.sent);
        let sent = sent_before + run.acknowledged;
        let delivered = number(stage.receiver.count() - delivered);
        let mut interval = Interval {
            until,
            sent,
            delivered_ratio: delivered / run.acknowledged,
            stored: 0.0,
            rows_ratio: 0.0,
            disk_mib: number(stage.place.bytes() >> 10) / 1024.0,
            wal_bytes,
            run,
        };
        interval.run.name = format!("until {:.0} s", until.as_secs_f64());
        intervals.push(interval);
        let (stored, allowed) = rows(&intervals, stage.place.oldest_rows(), lengths.retention);
        if let Some(last) = intervals.last_mut() {
            last.stored = stored;
            last.rows_ratio = stored / allowed.max(1.0);
            last.print();
        }
    }
    intervals
}

/// Estimates the stored rows, and the rows that retention allows, from the age of the oldest row and the rates of the
/// intervals.
fn rows(intervals: &[Interval], oldest: OldestRows, retention: Duration) -> (f64, f64) {
    let Some(now) = intervals.last() else { return (0.0, 0.0) };
    let sent_at = |age: Duration| {
        let at = now.until.saturating_sub(age);
        let after = intervals.partition_point(|it| it.until < at);
        let (from, sent) = match after.checked_sub(1).and_then(|before| intervals.get(before)) {
            Some(before) => (before.until, before.sent),
            None => (Duration::ZERO, 0.0),
        };
        let Some(next) = intervals.get(after) else { return sent };
        let part =
            at.saturating_sub(from).as_secs_f64() / next.until.saturating_sub(from).as_secs_f64();
        sent + (next.sent - sent) * part
    };
    let since = |age| now.sent - sent_at(age);
    (since(oldest.envelope_age).max(since(oldest.attempt_age)), since(retention))
}

fn findings(intervals: &[Interval], lengths: &Lengths) -> Vec<Finding> {
    // The first interval fills caches.
    let warm = intervals.get(1..).unwrap_or_default();
    let first = warm.partition_point(|it| it.until <= lengths.retention);
    let (before, deleting) = warm.split_at(first);
    let ratio = |of: fn(&Interval) -> f64| mean(deleting, of) / mean(before, of);
    let most =
        |of: fn(&Interval) -> f64, among: &[Interval]| among.iter().map(of).fold(0.0, f64::max);
    let least = warm.iter().map(|it| it.delivered_ratio).fold(f64::INFINITY, f64::min);
    let is_sqlite = intervals.iter().all(|it| it.wal_bytes.is_none());
    let ratio_min = if is_sqlite { 0.85 } else { 0.95 };
    let mut findings = vec![
        Finding::at_least(
            "rate while deleting over the rate before",
            ratio(|it| it.run.answered_per_s),
            ratio_min,
        ),
        // The generator does the same work for each envelope, so its CPU time shows how fast the machine is.
        Finding::at_least(
            "the same, rates times the generator's CPU time for an envelope",
            ratio(|it| it.run.answered_per_s * it.run.cpu_us.generator),
            ratio_min,
        ),
        Finding::at_most(
            "p99 of a response, ms, worst interval",
            most(|it| it.run.answer_ms.p99, warm),
            60.0,
        ),
        Finding::at_least("deliveries over sends, worst interval", least, 0.95),
        Finding::at_most("rows over what retention allows", most(|it| it.rows_ratio, warm), 1.3),
    ];
    let cycled = warm.partition_point(|it| it.until <= 2 * lengths.retention);
    if let Some((first, later)) = warm.split_at(cycled).1.split_first() {
        let grown = |of: fn(&Interval) -> f64| most(of, later) / of(first);
        let size = grown(|it| it.disk_mib);
        findings.push(Finding::at_most("size over the size after the first cycle", size, 1.05));
        if !is_sqlite {
            // A machine that becomes faster stores more rows in the same retention. A file of SQLite never shrinks, so
            // its size for a stored row would show the smallest number of rows.
            let what = "the same, sizes for a stored row";
            findings.push(Finding::at_most(what, grown(|it| it.disk_mib / it.stored), 1.05));
        }
    }
    if !is_sqlite {
        let bytes = |it: &Interval| it.wal_bytes.unwrap_or(0.0) * it.run.acknowledged;
        let wal = mean(warm, bytes) / mean(warm, |it| it.run.acknowledged);
        findings.push(Finding::at_most("bytes of the log for an envelope, mean", wal, 3200.0));
        // PostgreSQL logs whole pages after each checkpoint, so an interval with a checkpoint has more.
        let worst = most(|it| it.wal_bytes.unwrap_or(0.0), warm);
        let what = "bytes of the log for an envelope, worst interval";
        findings.push(Finding::at_most(what, worst, 3200.0));
    }
    findings
}

impl Interval {
    fn print(&self) {
        println!(
            "{:<14}{:>8.0}{:>9.1}{:>9.1}{:>9.1}{:>10.3}{:>8.2}{:>10.0}{:>8}",
            self.run.name,
            self.run.answered_per_s,
            self.run.answer_ms.p99,
            self.run.cpu_us(),
            self.run.cpu_us.generator,
            self.delivered_ratio,
            self.rows_ratio,
            self.disk_mib,
            or_dash(self.wal_bytes, 0),
        );
    }
}

const HEAD: &str =
    "interval         req/s  p99, ms  cpu, us  gen, us  del/send    rows disk, MiB  WAL, B";
