//! Batches of 100 messages against single sends, and a tenant that sends single messages beside both.

use std::sync::Arc;

use super::Outcome;
use crate::{
    bench::Bench,
    load::{Load, Pace},
    measure::deliveries,
    report::{Finding, Latency, Run, median},
    stage::{
        MESSAGE_BYTES, Stage,
        database::Engine,
        identities::{Identities, Member, Population},
        nodes::Nodes,
        warm_up,
    },
};

pub(crate) fn run(bench: &Bench, engine: &Engine) -> Outcome {
    let many = Population::MANY;
    let population = Population { senders: many.senders + BYSTANDERS, ..many };
    let mut stage = Stage::set(bench, engine, population, Nodes::One);
    let bystanders = stage.identities.senders.split_off(many.senders);
    let bystanders = Identities { senders: bystanders, ..stage.identities.clone() };
    let span = bench.span(10);
    let beside = |name, load: Load| {
        let bystander = Load {
            requests: bystanders.sends(MESSAGE_BYTES),
            connections: BYSTANDERS,
            pace: Pace::Open { per_second: 40 },
            ..load.clone()
        };
        let bystander = bystander.start();
        let run = deliveries(name, &stage, load);
        (run, Latency::of(&bystander.join().latency))
    };
    let singles = || stage.sends(64, span);
    let batches = || Load {
        requests: batches(&stage.identities),
        connections: 4,
        warm_up: warm_up(span),
        ..singles()
    };
    let pairs: Vec<_> = (0..PAIRS)
        .map(|_| [beside("single sends", singles()), beside("batches of 100", batches())])
        .collect();
    let findings = vec![
        Finding::at_least(
            format!("messages a second, batches over single sends, median of {PAIRS} pairs"),
            ratio(&pairs, |(run, _)| run.delivered_per_s.unwrap_or(f64::NAN)),
            1.2,
        ),
        Finding::at_most(
            format!(
                "p99 of a bystander, beside batches over beside single sends, median of {PAIRS} pairs"
            ),
            ratio(&pairs, |(_, bystander)| bystander.p99),
            1.5,
        ),
    ];
    let runs = pairs.into_iter().flatten().map(|(run, _)| run).collect();
    Outcome { runs, findings }
}

type Beside = (Run, Latency);

/// Returns the median of the ratios of a figure: the second of each pair over the first.
fn ratio(pairs: &[[Beside; 2]], figure: impl Fn(&Beside) -> f64) -> f64 {
    median(pairs.iter().map(|[first, second]| figure(second) / figure(first)))
}

/// Returns a batch of each sender, to recipients in turn.
fn batches(identities: &Identities) -> Arc<Vec<Vec<u8>>> {
    let message = "x".repeat(MESSAGE_BYTES);
    let mut recipients = identities.recipients.iter().cycle();
    let batch = |sender: &Member| {
        let to = recipients.by_ref().take(BATCH).map(|recipient| recipient.key);
        let messages: Vec<_> =
            to.map(|to| format!(r#"{{"to":"{to}","message":"{message}"}}"#)).collect();
        let body = format!(r#"{{"messages":[{}]}}"#, messages.join(","));
        sender.post("/v1/channel/send-batch", &body)
    };
    Arc::new(identities.senders.iter().map(batch).collect())
}

const PAIRS: usize = 3;
const BATCH: usize = 100;
const BYSTANDERS: usize = 8;
