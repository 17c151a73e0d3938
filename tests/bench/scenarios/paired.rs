//! Two kinds of sends to one server in turn. Short intervals cancel a drift of the machine's speed.

use std::{sync::Arc, time::Duration};

use super::Outcome;
use crate::{
    bench::Bench,
    load::{Load, Pace},
    measure::interval,
    report::{Finding, Run},
    stage::{MESSAGE_BYTES, Stage, database::Engine, identities::Population, nodes::Nodes},
};

/// Compares recipients with long lists in their policies with recipients that have the default policy.
pub(crate) fn policies(bench: &Bench, engine: &Engine) -> Outcome {
    let population = Population { policy_entries: 1000, ..Population::MANY };
    let stage = Stage::set(bench, engine, population, Nodes::One);
    let sends = |has_policy| {
        stage.identities.sends_to(MESSAGE_BYTES, |recipient| recipient.has_policy == has_policy)
    };
    let kinds = [("default policy", sends(false)), ("1,000 in each list", sends(true))];
    compare(bench, &stage, &kinds, 0.98)
}

/// Compares API tokens with session tokens of the same senders.
pub(crate) fn api_tokens(bench: &Bench, engine: &Engine) -> Outcome {
    let stage = Stage::set(bench, engine, Population::MANY, Nodes::One);
    let sessions = stage.identities.sends(MESSAGE_BYTES);
    let tokens = stage.identities.with_api_tokens(&stage.place).sends(MESSAGE_BYTES);
    compare(bench, &stage, &[("sessions", sessions), ("API tokens", tokens)], 0.98)
}

type Requests = Arc<Vec<Vec<u8>>>;

/// Measures both kinds in pairs of intervals. The order of a pair alternates. The finding is the median of the ratios
/// of the rates: the second kind over the first.
fn compare(bench: &Bench, stage: &Stage, kinds: &[(&str, Requests); 2], least: f64) -> Outcome {
    let measure = |(name, requests): &(&str, Requests)| Run {
        name: (*name).to_owned(),
        ..interval(stage, sends(stage, requests))
    };
    let [first, second] = kinds;
    drop((measure(first), measure(second)));
    let pairs: Vec<(Run, Run)> = (0..bench.span(60).as_secs().div_ceil(2).max(1))
        .map(|number| {
            if number % 2 == 0 {
                let run = measure(first);
                (run, measure(second))
            } else {
                let run = measure(second);
                (measure(first), run)
            }
        })
        .collect();
    let rates = pairs.iter().map(|(first, second)| second.answered_per_s / first.answered_per_s);
    let cpu = pairs.iter().map(|(first, second)| second.cpu_us() / first.cpu_us());
    let (rates, cpu) = (quartiles(rates.collect()), quartiles(cpu.collect()));
    let about = |figure: &str, [low, _, high]: [f64; 3]| {
        let (first, second, count) = (first.0, second.0, pairs.len());
        format!("{figure}, {second} over {first}, {count} pairs, quartiles {low:.3} and {high:.3}")
    };
    let findings = vec![
        Finding::at_least(about("rate", rates), rates[1], least),
        Finding::at_most(about("CPU of an envelope", cpu), cpu[1], 2.0 - least),
    ];
    let runs = pairs.into_iter().flat_map(|(first, second)| [first, second]).collect();
    Outcome { runs, findings, ..Outcome::default() }
}

fn sends(stage: &Stage, requests: &Requests) -> Load {
    Load {
        addresses: stage.servers.iter().map(|server| server.address).collect(),
        requests: Arc::clone(requests),
        connections: 64,
        pace: Pace::Closed,
        warm_up: Duration::from_millis(200),
        span: Duration::from_secs(1),
    }
}

/// Returns the lower quartile, the median, and the upper quartile.
fn quartiles(mut values: Vec<f64>) -> [f64; 3] {
    values.sort_unstable_by(f64::total_cmp);
    [1, 2, 3].map(|quarter| values.get(values.len() * quarter / 4).copied().unwrap_or(f64::NAN))
}
