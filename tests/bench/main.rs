//! Measures the throughput and latency of a node against the limits of the machine: over real sockets, with
//! the real binary in a separate process. `docs/performance.md` has the instructions and the results.
#![expect(
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a benchmark panics if it cannot run, and prints its results"
)]

mod adversary;
mod bench;
mod load;
mod measure;
mod poller;
mod report;
mod scenarios;
mod stage;
mod wire;

use std::{process::ExitCode, rc::Rc};

use clap::{Parser, Subcommand};
use mimalloc::MiMalloc;

use crate::{
    bench::Bench,
    measure::machine::Machine,
    scenarios::Scenario,
    stage::{database::Engine, horizon::Holder, postgres::Cluster},
};

/// The server's allocator, because generator and receiver share the cores with the server.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

/// Measures the real binary; without a scenario, all but the smoke test on both databases
#[derive(Parser)]
#[command(name = "bench", after_help = scenario_list(), args_conflicts_with_subcommands = true)]
struct Options {
    #[command(subcommand)]
    bench_of: Option<BenchOf>,
    /// Scenarios to measure, by name
    #[arg(value_name = "SCENARIO", value_parser = scenario)]
    scenarios: Vec<&'static Scenario>,
    /// sqlite, postgres (a private server), or the URL of a PostgreSQL server with the right to create databases
    #[arg(long, value_name = "DATABASE", default_values = ["sqlite", "postgres"])]
    database: Vec<String>,
    #[command(flatten)]
    settings: Bench,
    /// Argument of cargo for every benchmark
    #[arg(long, hide = true)]
    bench: bool,
}

/// Another bench of the same program.
#[derive(Subcommand)]
enum BenchOf {
    Adversary(adversary::Options),
}

fn main() -> ExitCode {
    let options = Options::parse();
    // Each target has its own connections.
    rlimit::increase_nofile_limit(u64::MAX).expect("the limit of open files can be raised");
    let has_failed = match options.bench_of {
        Some(BenchOf::Adversary(options)) => {
            Machine::look().print();
            adversary::run(&options, engine)
        }
        None => measure_scenarios(options),
    };
    if has_failed { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

/// Runs the scenarios and prints the results. Returns whether a run has failed.
fn measure_scenarios(options: Options) -> bool {
    let bench = options.settings;
    bench.machine.print();
    let mut scenarios = options.scenarios;
    if scenarios.is_empty() {
        scenarios.extend(scenarios::ALL.iter().filter(|scenario| scenario.is_usual));
    }
    let mut has_failed = false;
    for name in &options.database {
        let engine = match (&**name, bench.holder) {
            ("postgres", Holder::Slot) => private(&["-c wal_level=logical"]),
            _ => engine(name),
        };
        for report in scenarios.iter().filter_map(|scenario| scenario.report(&bench, &engine)) {
            report.print();
            has_failed |= report.has_failed();
        }
    }
    has_failed
}

fn engine(name: &str) -> Engine {
    match name {
        "sqlite" => Engine::Sqlite,
        "postgres" => private(&[]),
        url => Engine::Postgres(Rc::new(Cluster::given(url))),
    }
}

fn private(options: &[&str]) -> Engine {
    Engine::Postgres(Rc::new(Cluster::private(options)))
}

fn scenario(name: &str) -> Result<&'static Scenario, String> {
    Scenario::find(name).ok_or_else(|| "no such scenario; --help lists them".to_owned())
}

fn scenario_list() -> String {
    let line = |scenario: &Scenario| format!("  {:<10} {}\n", scenario.name, scenario.about);
    format!("Scenarios:\n{}", scenarios::ALL.iter().map(line).collect::<String>())
}
