//! The rate of rejected requests. A rejection must be cheap, since a client may repeat it without limit.

use std::sync::Arc;

use sealpost_domain::Plan;
use sealpost_wallet::SessionToken;

use super::Outcome;
use crate::{
    bench::Bench,
    load::Load,
    measure::refusals,
    report::Finding,
    stage::{
        MESSAGE_BYTES, Stage,
        database::Engine,
        identities::{Member, Population, send_request},
        nodes::Nodes,
    },
};

pub(crate) fn run(bench: &Bench, engine: &Engine) -> Outcome {
    let mut outcome = Outcome::default();
    for case in CASES {
        let population = Population {
            senders: 1,
            recipients: 1,
            plan: case.plan.unwrap_or(Population::MANY.plan),
        };
        let stage = Stage::set(bench, engine, population, Nodes::One);
        let [sender, recipient] = [&stage.identities.senders, &stage.identities.recipients]
            .map(|members| members.first().expect("there is one"));
        let message = "x".repeat(MESSAGE_BYTES);
        let body = format!(r#"{{"to":"{}","message":"{message}"}}"#, recipient.key);
        let requests = Arc::new((case.requests)(sender, &body));
        let load = Load { requests, ..stage.sends(64, bench.span(10)) };
        let run = refusals(case.name, &stage, load, case.status, case.few);
        let what = format!("{}, refused a second", case.name);
        outcome.findings.push(Finding::at_least(what, run.answered_per_s, 60_000.0));
        outcome.runs.push(run);
    }
    outcome
}

struct Case {
    name: &'static str,
    plan: Option<Plan>,
    requests: fn(&Member, &str) -> Vec<Vec<u8>>,
    status: u16,
    /// The number of responses that may have another status.
    few: u64,
}

const CASES: [Case; 5] = [
    Case {
        name: "key over its limit",
        plan: Some(Plan::Explorer),
        requests: |sender, body| vec![sender.send(body)],
        status: 429,
        // Twenty a minute, in at most three minutes.
        few: 60,
    },
    Case {
        name: "garbled token",
        plan: None,
        requests: |sender, body| vec![send_request(&garbled(&sender.token), &key(sender), body)],
        status: 401,
        few: 0,
    },
    Case {
        name: "unknown tokens",
        plan: None,
        requests: |sender, body| {
            let fresh = || SessionToken::generate().expect("there is randomness");
            let request = |_| send_request(fresh().expose(), &key(sender), body);
            (0..1024).map(request).collect()
        },
        status: 401,
        few: 0,
    },
    Case {
        name: "malformed, no key",
        plan: None,
        requests: |sender, body| vec![send_request(&sender.token, "", cut(body))],
        status: 400,
        few: 0,
    },
    Case {
        name: "malformed, counted",
        plan: None,
        requests: |sender, body| vec![sender.send(cut(body))],
        status: 400,
        few: 0,
    },
];

fn key(sender: &Member) -> String {
    format!("X-DID-API-Key: {}\r\n", sender.key)
}

/// Replaces the first character, so that the checksum is wrong.
fn garbled(token: &str) -> String {
    let (prefix, rest) = token.split_once('_').expect("a token has a prefix");
    let other = if rest.starts_with('a') { 'b' } else { 'a' };
    format!("{prefix}_{other}{}", rest.get(1..).expect("a token is ASCII"))
}

/// Removes the last character.
fn cut(body: &str) -> &str {
    body.strip_suffix('}').expect("a body is an object")
}
