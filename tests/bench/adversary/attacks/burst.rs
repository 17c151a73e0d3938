//! A burst to a slow receiver that becomes quick: how long the last event takes.

use std::time::Duration;

use crate::{
    adversary::{
        Outcome, Trial,
        arena::Ground,
        table::{Figure, with_undelivered},
    },
    load::{Load, Pace},
    measure::delivered::Delivered,
    stage::{
        identities::{Tenant, ring, unbounded},
        receiver::Receiver,
    },
};

pub(crate) fn run(trial: &Trial<'_>) -> Outcome {
    let ground = Ground::new(trial.engine);
    let tenant = Tenant { keys: 1, webhooks_of_key: 1, plan: unbounded(1_000_000) };
    let slow = Receiver::start(tenant.targets());
    slow.delay(Duration::from_millis(500));
    let member = tenant.activate(&ground.place, &slow).pop().expect("the tenant has a key");
    let arena = ground.serve();
    let alone = arena.watch_alone(trial);
    let span = trial.pick(Duration::from_secs(8), Duration::from_millis(400));
    let pace = Pace::Open { per_second: trial.pick(1000, 200) };
    let burst = Load { connections: 32, ..arena.load(ring(&[member]), pace, span) };
    let running = burst.start();
    let attacked = arena.watch(span);
    let sent = running.join();
    slow.delay(Duration::ZERO);
    let delivered = Delivered::within(&slow, &sent.acknowledged, DRAIN_TIMEOUT);
    let seconds = format!("{:.1}", delivered.waited.as_secs_f64());
    let value = with_undelivered(seconds, delivered.lost);
    let what = "seconds until all events of the burst are delivered";
    Outcome { alone, attacked, figures: vec![Figure { what, value }] }
}

/// Longer than a lease.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(75);
