//! Request heads without an end.

use crate::{
    adversary::{Outcome, Trial, arena::Ground, crowd::Crowd, table::Figure},
    report::number,
};

pub(crate) fn run(trial: &Trial<'_>) -> Outcome {
    let arena = Ground::new(trial.engine).serve();
    let alone = arena.watch_alone(trial);
    let (before_kib, _) = arena.server.memory_kib();
    let crowd = Crowd::gather(arena.server.address, trial.pick(1000, 50), unfinished_head());
    let attacked = arena.watch(trial.attacked());
    drop(crowd);
    let (_, peak_kib) = arena.server.memory_kib();
    let value = format!("{:.0}", number(peak_kib.saturating_sub(before_kib)) / 1024.0);
    let figures = vec![Figure { what: "growth of resident memory, MiB", value }];
    Outcome { alone, attacked, figures }
}

fn unfinished_head() -> Vec<u8> {
    let mut head = b"GET /v1/ping HTTP/1.1\r\nHost: localhost\r\nX-Long: ".to_vec();
    head.resize(HEAD_BYTES, b'x');
    head
}

/// Below the limit of the HTTP library, 128 KiB.
const HEAD_BYTES: usize = 120 * 1024;
