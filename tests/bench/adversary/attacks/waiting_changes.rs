//! One key that registers and deletes its webhook in a loop, in front of 1,500 waiting envelopes. Each change moves the
//! envelopes.

use std::time::Duration;

use super::webhook_changes::beside_changes;
use crate::{
    adversary::{Outcome, Trial, arena::Ground, table::Figure},
    load::{Load, Pace},
    stage::{
        identities::{Tenant, ring, unbounded},
        receiver::Receiver,
    },
};

pub(crate) fn run(trial: &Trial<'_>) -> Outcome {
    let ground = Ground::new(trial.engine);
    let tenant = Tenant { keys: 1, webhooks_of_key: 0, plan: unbounded(1_000_000) };
    let receiver = Receiver::start(1);
    let changers = tenant.activate(&ground.place, &receiver);
    let arena = ground.serve();
    let span = trial.pick(Duration::from_secs(3), Duration::from_millis(200));
    let sends = arena.load(ring(&changers), Pace::Open { per_second: 500 }, span);
    let filling = Load { connections: 8, ..sends };
    let waiting = filling.start().join().acknowledged.len();
    // The receiver does not respond within the run, so no envelope leaves the queue.
    receiver.delay(Duration::from_hours(1));
    let alone = arena.watch_alone(trial);
    let (attacked, rate) =
        beside_changes(trial, &arena, &changers, &receiver.url(0), Duration::ZERO);
    let waiting = Figure { what: "envelopes that wait", value: waiting.to_string() };
    Outcome { alone, attacked, figures: vec![waiting, rate] }
}
