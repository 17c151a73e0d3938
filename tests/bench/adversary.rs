//! Hostile tenants and clients: the latency and errors of a bystander, without and with each attack.
//! `docs/operating/hostile-tenants.md` has the results.

mod arena;
mod attacks;
mod bystander;
mod client;
mod crowd;
mod table;

use std::time::Duration;

use clap::Args;

use crate::{
    adversary::{bystander::Experience, table::Figure},
    stage::database::Engine,
};

/// Measures a bystander beside hostile tenants and clients; prints rows of a Markdown table
#[derive(Args)]
#[command(after_help = attack_list())]
pub(crate) struct Options {
    /// Attack to run, repeatable; all attacks by default
    #[arg(long, value_name = "ATTACK", value_parser = attack)]
    only: Vec<&'static Attack>,
    /// sqlite, postgres (a private server), or the URL of a PostgreSQL server with the right to create databases
    #[arg(long, value_name = "DATABASE", default_values = ["sqlite", "postgres"])]
    pub(crate) database: Vec<String>,
    /// Run small attacks for a moment, and fail if the bystander gets an error
    #[arg(long)]
    smoke: bool,
    /// Argument of cargo for every benchmark
    #[arg(long, hide = true)]
    bench: bool,
}

/// One kind of attack.
pub(crate) struct Attack {
    name: &'static str,
    about: &'static str,
    run: fn(&Trial<'_>) -> Outcome,
}

/// The database and the size of an attack.
pub(crate) struct Trial<'a> {
    engine: &'a Engine,
    is_smoke: bool,
}

/// The bystander's experience without and with the attack, and figures of the attack itself.
pub(crate) struct Outcome {
    alone: Experience,
    attacked: Experience,
    figures: Vec<Figure>,
}

/// Runs the attacks on each database and prints the results. Returns whether the smoke test has failed.
pub(crate) fn run(options: &Options, engine: impl Fn(&str) -> Engine) -> bool {
    let mut attacks = options.only.clone();
    if attacks.is_empty() {
        attacks.extend(attacks::ALL);
    }
    let mut has_failed = false;
    for engine in options.database.iter().map(|name| engine(name)) {
        table::print_head(&engine);
        for attack in &attacks {
            let outcome = (attack.run)(&Trial { engine: &engine, is_smoke: options.smoke });
            table::print_rows(attack.name, &outcome);
            if options.smoke && outcome.has_failed() {
                println!("FAILED: {}: the bystander must get no error", attack.name);
                has_failed = true;
            }
        }
    }
    has_failed
}

impl Trial<'_> {
    /// Returns the first size, or the second in the smoke test.
    fn pick<T>(&self, full: T, smoke: T) -> T {
        if self.is_smoke { smoke } else { full }
    }

    /// Returns the length of the measurement without the attack.
    fn alone(&self) -> Duration {
        self.pick(Duration::from_secs(8), Duration::from_millis(400))
    }

    /// Returns the length of the measurement with the attack.
    fn attacked(&self) -> Duration {
        self.pick(Duration::from_secs(15), Duration::from_millis(800))
    }
}

impl Outcome {
    fn has_failed(&self) -> bool {
        self.alone.has_failed() || self.attacked.has_failed()
    }
}

fn attack(name: &str) -> Result<&'static Attack, String> {
    let found = attacks::ALL.iter().find(|attack| attack.name == name);
    found.ok_or_else(|| "no such attack; --help lists them".to_owned())
}

fn attack_list() -> String {
    let line = |attack: &Attack| format!("  {:<16} {}\n", attack.name, attack.about);
    format!("Attacks:\n{}", attacks::ALL.iter().map(line).collect::<String>())
}
