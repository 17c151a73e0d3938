//! Well-formed but unknown session tokens, each a different one.

use std::time::Duration;

use sealpost_domain::ApiKeyId;
use sealpost_wallet::SessionToken;

use crate::{
    adversary::{Outcome, Trial, arena::Ground, table::Figure},
    load::{Load, Pace},
    report::per_second,
    wire::post,
};

pub(crate) fn run(trial: &Trial<'_>) -> Outcome {
    let arena = Ground::new(trial.engine).serve();
    let alone = arena.watch_alone(trial);
    let key = arena.identities.senders.first().expect("the bystander has keys").key;
    let span = trial.attacked() + Duration::from_secs(1);
    let requests = (0..TOKENS).map(|number| request(number, key)).collect();
    let connections = trial.pick(64, 4);
    let load = Load { connections, ..arena.load(requests, Pace::Closed, span) };
    let running = load.start();
    let attacked = arena.watch(trial.attacked());
    let refused = running.join().with_status(401);
    let value = format!("{:.0}", per_second(refused, span));
    Outcome { alone, attacked, figures: vec![Figure { what: "401 responses a second", value }] }
}

/// Returns a request with a new token. The key exists: keys are no secrets.
fn request(number: usize, key: ApiKeyId) -> Vec<u8> {
    let path = PATHS.get(number % PATHS.len()).expect("within");
    let token = SessionToken::generate().expect("there is randomness");
    let headers = format!("Authorization: Bearer {}\r\nX-DID-API-Key: {key}\r\n", token.expose());
    post(path, &headers, "{}")
}

const PATHS: [&str; 4] = ["/v1/channel/open", "/v1/did/status", "/v1/webhooks", "/v1/badges/issue"];
const TOKENS: usize = 8192;
