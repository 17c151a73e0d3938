//! The scenarios, by name.

mod backlog;
mod batches;
mod closed;
mod growth;
mod horizon;
mod memory;
mod refusals;
mod relay;
mod smoke;
mod sovereign;
mod steady;
mod two_nodes;

use crate::{
    bench::Bench,
    report::{Finding, Report, Run},
    stage::database::Engine,
};

pub(crate) struct Scenario {
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    /// Whether the scenario runs by default.
    pub(crate) is_usual: bool,
    needs_postgres: bool,
    run: fn(&Bench, &Engine) -> Outcome,
}

/// The result of a scenario.
#[derive(Default)]
pub(crate) struct Outcome {
    pub(crate) runs: Vec<Run>,
    pub(crate) findings: Vec<Finding>,
}

impl Scenario {
    pub(crate) fn find(name: &str) -> Option<&'static Self> {
        ALL.iter().find(|scenario| scenario.name == name)
    }

    /// Runs the scenario. Returns `None` if the scenario does not support this database.
    pub(crate) fn report<'a>(&self, bench: &'a Bench, engine: &Engine) -> Option<Report<'a>> {
        if self.needs_postgres && !matches!(engine, Engine::Postgres(_)) {
            return None;
        }
        let Outcome { runs, findings } = (self.run)(bench, engine);
        Some(Report {
            scenario: self.name,
            database: engine.name(),
            database_version: engine.version(),
            suite: &bench.suite,
            runs,
            findings,
            machine: &bench.machine,
        })
    }
}

const fn usual(
    name: &'static str,
    about: &'static str,
    run: fn(&Bench, &Engine) -> Outcome,
) -> Scenario {
    Scenario { name, about, is_usual: true, needs_postgres: false, run }
}

pub(crate) const ALL: &[Scenario] = &[
    usual("closed-1", "sends of 256 bytes on one connection", closed::one),
    usual("closed-16", "on 16 connections", closed::sixteen),
    usual("closed-64", "on 64 connections", closed::sixty_four),
    usual("sovereign", "1,000 messages a second from one key, open loop", sovereign::run),
    usual("refusals", "a key over its limit, bad tokens, malformed bodies", refusals::run),
    usual(
        "growth",
        "many stored envelopes and keys against few; --full for 10,000,000 and 1,000,000",
        growth::run,
    ),
    usual("backlog", "100,000 due deliveries to 1,000 targets against the live rate", backlog::run),
    usual("batches", "batches of 100 against single sends, and a bystander", batches::run),
    usual("relay", "relays against webhooks with a URL, and 10,000 idle relays", relay::run),
    usual("memory", "resident memory at 64 connections over a longer run", memory::run),
    Scenario {
        needs_postgres: true,
        ..usual("two-nodes", "two servers on one PostgreSQL against one", two_nodes::run)
    },
    Scenario {
        is_usual: false,
        ..usual(
            "steady",
            "64 connections for 30 minutes while a retention of --retention deletes",
            steady::run,
        )
    },
    Scenario {
        is_usual: false,
        ..usual(
            "horizon",
            "64 connections for 30 minutes while --holder keeps old row versions, and after that",
            horizon::closed,
        )
    },
    Scenario {
        is_usual: false,
        ..usual("horizon-open", "the same with 3,000 messages a second, open loop", horizon::open)
    },
    Scenario {
        is_usual: false,
        ..usual("smoke", "a moment of every kind of load, without results", smoke::run)
    },
];
