//! One key that registers and deletes its webhook in a loop, in front of 1,500 waiting envelopes. Each change moves the
//! envelopes.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU32, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use super::webhook_changes::change;
use crate::{
    adversary::{Outcome, Trial, arena::Ground, table::Figure},
    load::{Load, Pace},
    stage::{
        identities::{Tenant, unbounded},
        receiver::Receiver,
    },
};

pub(crate) fn run(trial: &Trial<'_>) -> Outcome {
    let ground = Ground::new(trial.engine);
    let tenant = Tenant { keys: 1, webhooks_of_key: 0, plan: unbounded(1_000_000) };
    let receiver = Receiver::start(1);
    let changer = tenant.activate(&ground.place, &receiver).pop().expect("the tenant has a key");
    let arena = ground.serve();
    let (address, url) = (arena.server.address, receiver.url(0));
    let filling = Load {
        addresses: vec![address],
        requests: Arc::new(vec![
            changer.send(&format!(r#"{{"to":"{}","message":"it waits"}}"#, changer.key)),
        ]),
        connections: 8,
        pace: Pace::Open { per_second: 500 },
        warm_up: Duration::ZERO,
        span: trial.pick(Duration::from_secs(3), Duration::from_millis(200)),
    };
    let waiting = filling.start().join().acknowledged.len();
    // The receiver does not respond within the run, so no envelope leaves the queue.
    receiver.delay(Duration::from_hours(1));
    let alone = arena.watch_alone(trial);
    let (is_over, count) = (AtomicBool::new(false), AtomicU32::new(0));
    let (attacked, took) = thread::scope(|scope| {
        scope.spawn(|| change(address, &changer, &url, Duration::ZERO, (&is_over, &count)));
        let began = Instant::now();
        let attacked = arena.watch(trial.attacked());
        is_over.store(true, Ordering::Relaxed);
        (attacked, began.elapsed())
    });
    let per_second = format!("{:.0}", f64::from(count.into_inner()) / took.as_secs_f64());
    Outcome {
        alone,
        attacked,
        figures: vec![
            Figure { what: "envelopes that wait", value: waiting.to_string() },
            Figure { what: "changes a second", value: per_second },
        ],
    }
}
