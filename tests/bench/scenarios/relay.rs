//! Relays beside webhooks with a URL: the time to an event, through one and two nodes, and the cost of idle connections.

use std::{
    thread,
    time::{Duration, Instant},
};

use super::Outcome;
use crate::{
    bench::Bench,
    load::{Load, Pace},
    measure::deliveries,
    report::{Finding, Run, median, number},
    stage::{
        MESSAGE_BYTES, Stage,
        database::Engine,
        identities::{Identities, Member, Population, make_relays},
        nodes::Nodes,
        relay_receiver::RelayReceiver,
        server::Server,
        warm_up,
    },
};

pub(crate) fn run(bench: &Bench, engine: &Engine) -> Outcome {
    let (runs, ratio) = on_one_node(bench, engine);
    let mut outcome = Outcome { runs, findings: vec![ratio] };
    if matches!(engine, Engine::Postgres(_)) {
        let run = through_another_node(bench, engine);
        let p99 = event_p99(&run);
        outcome.findings.push(Finding::at_most("p99 of an event through another node", p99, 300.0));
        outcome.runs.push(run);
    }
    outcome.findings.extend(idle(bench, engine));
    outcome
}

/// Compares relays with webhooks that have a URL, in pairs on one node.
fn on_one_node(bench: &Bench, engine: &Engine) -> (Vec<Run>, Finding) {
    let stage = stage(bench, engine, Population::MANY, Nodes::One);
    let _relays = connect(&stage, &stage.servers);
    let measure =
        |name, of_relays| deliveries(name, &stage, sends(bench, &stage, &stage.servers, of_relays));
    drop((measure("", false), measure("", true)));
    let pairs: Vec<_> =
        (0..PAIRS).map(|_| (measure("to a URL", false), measure("to a relay", true))).collect();
    let ratio = median(pairs.iter().map(|(url, relay)| event_p99(relay) / event_p99(url)));
    let what = format!("p99 of an event to a relay, over one to a URL, median of {PAIRS} pairs");
    let runs = pairs.into_iter().flat_map(|(url, relay)| [url, relay]).collect();
    (runs, Finding::at_most(what, ratio, 1.3))
}

fn event_p99(run: &Run) -> f64 {
    run.webhook_ms.map_or(f64::NAN, |ms| ms.p99)
}

/// Sends through one node to relays that are connected to another.
fn through_another_node(bench: &Bench, engine: &Engine) -> Run {
    let stage = stage(bench, engine, Population::MANY, Nodes::Two);
    let (senders, receivers) = stage.servers.split_at(1);
    let _relays = connect(&stage, receivers);
    deliveries("through another node", &stage, sends(bench, &stage, senders, true))
}

/// Measures what connections cost that get nothing.
fn idle(bench: &Bench, engine: &Engine) -> [Finding; 2] {
    let count = if bench.seconds.is_some_and(|seconds| seconds < 10) { 100 } else { IDLE };
    let population = Population { senders: 1, recipients: 2 * count, ..Population::MANY };
    let stage = stage(bench, engine, population, Nodes::Relaying(count));
    let server = stage.servers.first().expect("there is a node");
    let used = || server.cpu() + stage.engine.cpu().unwrap_or_default();
    thread::sleep(warm_up(bench.span(30)));
    let memory = server.memory_kib().0;
    let _relays = connect(&stage, &stage.servers);
    if matches!(engine, Engine::Postgres(_)) {
        // Connecting stores rows, and their maintenance is not the cost of idle connections.
        stage.place.settle_down();
    }
    thread::sleep(warm_up(bench.span(30)));
    let (before, began) = (used(), Instant::now());
    thread::sleep(bench.span(60));
    let cpu = 100.0 * used().saturating_sub(before).as_secs_f64() / began.elapsed().as_secs_f64();
    let memory = server.memory_kib().0.saturating_sub(memory);
    let each = number(memory) / f64::from(u32::try_from(count).unwrap_or(u32::MAX));
    let of = format!("of each of {count} idle relays");
    [
        Finding::at_most(format!("KiB {of}"), each, 20.0),
        Finding::at_most(
            format!("% of a core of the server and the database with {count} idle relays"),
            cpu,
            2.0,
        ),
    ]
}

/// Creates a stage in which every second recipient has a relay.
fn stage(bench: &Bench, engine: &Engine, population: Population, nodes: Nodes) -> Stage {
    Stage::set_with(bench, engine, (population, nodes), |place, identities| {
        let members: Vec<_> = relayed(identities).map(|(_, member)| member).collect();
        make_relays(place, &members);
        place.settle_down();
    })
}

/// Returns the recipients with a relay, and their numbers.
fn relayed(identities: &Identities) -> impl Iterator<Item = (usize, &Member)> {
    identities.recipients.iter().enumerate().filter(|(at, _)| has_relay(*at))
}

fn has_relay(recipient: usize) -> bool {
    !recipient.is_multiple_of(2)
}

/// Connects the receivers of all relays to the first of these servers.
fn connect(stage: &Stage, servers: &[Server]) -> RelayReceiver {
    let address = servers.first().expect("there is a node").address;
    let recipients: Vec<_> = relayed(&stage.identities).collect();
    RelayReceiver::connect(address, &recipients, &stage.receiver)
}

/// Returns an open loop of sends to all relays, or to all webhooks with a URL.
fn sends(bench: &Bench, stage: &Stage, servers: &[Server], of_relays: bool) -> Load {
    let mut chosen = stage.identities.clone();
    let mut number = 0;
    chosen.recipients.retain(|_| {
        number += 1;
        has_relay(number - 1) == of_relays
    });
    let span = bench.span(10);
    Load {
        addresses: servers.iter().map(|server| server.address).collect(),
        requests: chosen.sends(MESSAGE_BYTES),
        connections: 64,
        pace: Pace::Open { per_second: 1_000 },
        warm_up: warm_up(span).min(Duration::from_secs(1)),
        span,
    }
}

const PAIRS: usize = 3;
const IDLE: usize = 10_000;
