//! Keys that register and delete webhooks, about 150 changes a second together.

use std::{
    sync::atomic::{AtomicBool, AtomicU32, Ordering},
    thread,
    time::{Duration, Instant},
};

use crate::{
    adversary::{Outcome, Trial, arena::Ground, table::Figure},
    scenarios::webhook_changes::{CHANGERS, PAUSE, change},
    stage::{
        identities::{Tenant, unbounded},
        receiver::Receiver,
    },
};

pub(crate) fn run(trial: &Trial<'_>) -> Outcome {
    let ground = Ground::new(trial.engine);
    let tenant =
        Tenant { keys: trial.pick(CHANGERS, 8), webhooks_of_key: 0, plan: unbounded(1_000_000) };
    let receiver = Receiver::start(1);
    let changers = tenant.activate(&ground.place, &receiver);
    let arena = ground.serve();
    let alone = arena.watch_alone(trial);
    let (address, url) = (arena.server.address, receiver.url(0));
    let pause = trial.pick(PAUSE, Duration::from_millis(20));
    let (is_over, count) = (AtomicBool::new(false), AtomicU32::new(0));
    let (attacked, took) = thread::scope(|scope| {
        for changer in &changers {
            scope.spawn(|| change(address, changer, &url, pause, (&is_over, &count)));
        }
        let began = Instant::now();
        let attacked = arena.watch(trial.attacked());
        is_over.store(true, Ordering::Relaxed);
        (attacked, began.elapsed())
    });
    let value = format!("{:.0}", f64::from(count.into_inner()) / took.as_secs_f64());
    Outcome { alone, attacked, figures: vec![Figure { what: "changes a second", value }] }
}
