//! Large bodies without an end, with made-up tokens.

use sealpost_wallet::SessionToken;

use crate::adversary::{Outcome, Trial, arena::Ground, crowd::Crowd};

pub(crate) fn run(trial: &Trial<'_>) -> Outcome {
    let mut ground = Ground::new(trial.engine);
    ground.message_bytes = 100_000;
    let arena = ground.serve();
    let alone = arena.watch_alone(trial);
    let crowd = Crowd::gather(arena.server.address, 34, unfinished_body());
    let attacked = arena.watch(trial.attacked());
    drop(crowd);
    Outcome { alone, attacked, figures: Vec::new() }
}

fn unfinished_body() -> Vec<u8> {
    let token = SessionToken::generate().expect("there is randomness");
    let head = format!(
        "POST /v1/channel/send HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {}\r\n\
         Content-Type: application/json\r\nContent-Length: {BODY_BYTES}\r\n\r\n",
        token.expose()
    );
    let mut request = head.into_bytes();
    request.resize(request.len() + BODY_BYTES - 1, b' ');
    request
}

/// Almost the default of `--max-body-bytes`.
const BODY_BYTES: usize = 2 * 1024 * 1024 - 1024;
