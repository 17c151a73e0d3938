//! The report of a scenario: a table as text, and one line of JSON.

use std::{collections::BTreeMap, time::Duration};

use hdrhistogram::Histogram;
use serde::Serialize;

use crate::measure::machine::Machine;

/// The result of one scenario on one database.
#[derive(Serialize)]
pub(crate) struct Report<'a> {
    pub(crate) scenario: &'a str,
    pub(crate) database: &'a str,
    pub(crate) database_version: String,
    pub(crate) suite: &'a str,
    pub(crate) runs: Vec<Run>,
    pub(crate) findings: Vec<Finding>,
    pub(crate) machine: &'a Machine,
}

/// The result of one load.
#[derive(Default, Serialize)]
pub(crate) struct Run {
    pub(crate) name: String,
    pub(crate) connections: usize,
    pub(crate) seconds: f64,
    pub(crate) answered_per_s: f64,
    pub(crate) delivered_per_s: Option<f64>,
    pub(crate) answer_ms: Latency,
    pub(crate) webhook_ms: Option<Latency>,
    pub(crate) cpu_us: Cpu,
    pub(crate) statuses: BTreeMap<u16, u64>,
    pub(crate) acknowledged: f64,
    pub(crate) lost: usize,
    pub(crate) duplicates: usize,
    pub(crate) signatures_checked: u64,
    pub(crate) drained_after_ms: Option<f64>,
    pub(crate) memory_mib: Memory,
    pub(crate) other_processes_percent: f64,
    pub(crate) stolen_percent: f64,
    pub(crate) failures: Vec<String>,
}

/// Percentiles of the latency, in milliseconds.
#[derive(Clone, Copy, Default, Serialize)]
pub(crate) struct Latency {
    pub(crate) p50: f64,
    pub(crate) p90: f64,
    pub(crate) p99: f64,
    pub(crate) p999: f64,
    pub(crate) max: f64,
}

/// CPU time per delivered envelope, or per response if nothing is delivered. The generator's time is always
/// per response, the receiver's per webhook request.
#[derive(Clone, Copy, Default, Serialize)]
pub(crate) struct Cpu {
    pub(crate) server: f64,
    /// `None` if the database runs on an unknown machine.
    pub(crate) database: Option<f64>,
    pub(crate) generator: f64,
    pub(crate) receiver: Option<f64>,
}

/// Resident memory of the largest server in the window.
#[derive(Clone, Default, Serialize)]
pub(crate) struct Memory {
    pub(crate) middle: f64,
    pub(crate) last: f64,
    pub(crate) peak: f64,
    #[serde(skip)]
    seen: Vec<f64>,
}

/// A figure with a target.
#[derive(Serialize)]
pub(crate) struct Finding {
    pub(crate) what: String,
    pub(crate) value: f64,
    /// The target as text.
    pub(crate) target: String,
    pub(crate) is_reached: bool,
}

impl Report<'_> {
    pub(crate) fn print(&self) {
        println!("\n== {} on {}, {}", self.scenario, self.database_version, self.suite);
        println!("{HEAD}");
        for run in &self.runs {
            println!("{}", run.row());
        }
        for Finding { what, value, target, is_reached } in &self.findings {
            let verdict = if *is_reached { "reached" } else { "not reached" };
            println!("{what}: {value:.3}; target {target}: {verdict}");
        }
        for (run, failure) in
            self.runs.iter().flat_map(|run| run.failures.iter().map(move |one| (run, one)))
        {
            println!("FAILED: {}: {failure}", run.name);
        }
        println!("{}", serde_json::to_string(self).expect("a report is JSON"));
    }

    pub(crate) fn has_failed(&self) -> bool {
        self.runs.iter().any(|run| !run.failures.is_empty())
    }
}

impl Run {
    /// Returns the CPU time of server and database for one envelope.
    pub(crate) fn cpu_us(&self) -> f64 {
        self.cpu_us.server + self.cpu_us.database.unwrap_or(f64::NAN)
    }

    fn row(&self) -> String {
        let (response, cpu) = (&self.answer_ms, &self.cpu_us);
        let webhook = |of: fn(&Latency) -> f64| or_dash(self.webhook_ms.as_ref().map(of), 2);
        [
            format!("{:<22}", self.name),
            format!("{:>5}", self.connections),
            format!("{:>8.0}", self.answered_per_s),
            format!("{:>8}", or_dash(self.delivered_per_s, 0)),
            format!(
                "{:>7.2}{:>8.2}{:>8.2}{:>8.1}",
                response.p50, response.p99, response.p999, response.max
            ),
            format!("{:>8}{:>9}", webhook(|ms| ms.p50), webhook(|ms| ms.p99)),
            format!("{:>7.1}{:>7}", cpu.server, or_dash(cpu.database, 1)),
            format!("{:>6.1}{:>6}", cpu.generator, or_dash(cpu.receiver, 1)),
            format!("{:>5}{:>5}", self.lost, self.duplicates),
            format!("{:>8.1}", self.memory_mib.peak),
            format!("{:>6.1}", self.other_processes_percent),
        ]
        .join("")
    }
}

impl Latency {
    pub(crate) fn of(micros: &Histogram<u64>) -> Self {
        let at = |quantile| number(micros.value_at_quantile(quantile)) / 1e3;
        Self { p50: at(0.5), p90: at(0.9), p99: at(0.99), p999: at(0.999), max: at(1.0) }
    }
}

impl Memory {
    /// Adds resident memory and its peak, in KiB.
    pub(crate) fn note(&mut self, (now, peak): (u64, u64)) {
        self.last = number(now) / 1024.0;
        self.peak = number(peak) / 1024.0;
        self.seen.push(self.last);
        self.middle = self.seen.get(self.seen.len() / 2).copied().unwrap_or(self.last);
    }
}

impl Finding {
    pub(crate) fn at_least(what: impl Into<String>, value: f64, bound: f64) -> Self {
        let (target, is_reached) = (format!("at least {bound}"), value >= bound);
        Self { what: what.into(), value, target, is_reached }
    }

    pub(crate) fn at_most(what: impl Into<String>, value: f64, bound: f64) -> Self {
        let (target, is_reached) = (format!("at most {bound}"), value <= bound);
        Self { what: what.into(), value, target, is_reached }
    }
}

/// Returns the value with this number of decimal places.
pub(crate) fn or_dash(value: Option<f64>, places: usize) -> String {
    value.map_or_else(|| "-".to_owned(), |value| format!("{value:.places$}"))
}

/// Returns the mean of a figure.
pub(crate) fn mean<T>(among: &[T], of: impl Fn(&T) -> f64) -> f64 {
    let count = number(u64::try_from(among.len()).unwrap_or(u64::MAX));
    among.iter().map(of).sum::<f64>() / count
}

/// Returns the median of an odd number of values.
pub(crate) fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_unstable_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

/// Returns the CPU time of one unit, in microseconds.
pub(crate) fn share(used: Duration, count: u64) -> f64 {
    used.as_secs_f64() * 1e6 / number(count).max(1.0)
}

pub(crate) fn per_second(count: u64, wall: Duration) -> f64 {
    number(count) / wall.as_secs_f64()
}

/// Counts here are below 4,000,000,000.
pub(crate) fn number(count: u64) -> f64 {
    f64::from(u32::try_from(count).unwrap_or(u32::MAX))
}

const HEAD: &str = concat!(
    "                                             response, ms                   ",
    "webhook, ms      CPU us an envelope                       other\n",
    "run                   conns   req/s  deliv/s    p50     p99   p99.9     max",
    "     p50      p99 server     db   gen  recv lost dupl RSS MiB CPU %",
);
