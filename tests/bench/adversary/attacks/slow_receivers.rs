//! A free account with a receiver that takes 14 s for each response.

use std::{thread, time::Duration};

use sealpost_domain::Plan;

use crate::{
    adversary::{Outcome, Trial, arena::Ground, table::Figure},
    load::Pace,
    stage::{
        identities::{Tenant, ring},
        receiver::Receiver,
    },
};

pub(crate) fn run(trial: &Trial<'_>) -> Outcome {
    let ground = Ground::new(trial.engine);
    let tenant = Tenant { keys: trial.pick(70, 4), webhooks_of_key: 16, plan: Plan::Explorer };
    let slow = Receiver::start(tenant.targets());
    slow.delay(trial.pick(Duration::from_secs(14), Duration::from_millis(300)));
    let members = tenant.activate(&ground.place, &slow);
    let arena = ground.serve();
    let alone = arena.watch_alone(trial);
    let span = trial.pick(Duration::from_secs(4), Duration::from_millis(200));
    arena.load(ring(&members), Pace::Open { per_second: 350 }, span).start().join();
    // Webhooks without a response get half of the slots. After the first response they may take all.
    thread::sleep(trial.pick(Duration::from_secs(15), Duration::ZERO));
    let attacked = arena.watch(trial.attacked());
    let waiting = slow.waiting().to_string();
    let figure = Figure { what: "attempts in flight to the slow receiver", value: waiting };
    Outcome { alone, attacked, figures: vec![figure] }
}
