//! TCP connections that do not begin the TLS handshake.

use crate::adversary::{Outcome, Trial, arena::Ground, crowd::Crowd};

pub(crate) fn run(trial: &Trial<'_>, connections: usize) -> Outcome {
    let arena = Ground::new(trial.engine).serve_tls();
    let alone = arena.watch_alone(trial);
    let crowd = Crowd::gather(arena.server.address, trial.pick(connections, 32), Vec::new());
    let attacked = arena.watch(trial.attacked());
    drop(crowd);
    Outcome { alone, attacked, figures: Vec::new() }
}
