//! A free account with a receiver that takes 14 s for each response.

use std::{sync::Arc, thread, time::Duration};

use sealpost_domain::Plan;

use crate::{
    adversary::{Outcome, Trial, arena::Ground, table::Figure},
    load::{Load, Pace},
    stage::{
        identities::{Member, Tenant},
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
    let sends = Load {
        addresses: vec![arena.server.address],
        requests: Arc::new(ring(&members)),
        connections: 16,
        pace: Pace::Open { per_second: 350 },
        warm_up: Duration::ZERO,
        span: trial.pick(Duration::from_secs(4), Duration::from_millis(200)),
    };
    sends.start().join();
    // Webhooks without a response get half of the slots. After the first response they may take all.
    thread::sleep(trial.pick(Duration::from_secs(15), Duration::ZERO));
    let attacked = arena.watch(trial.attacked());
    let waiting = slow.waiting().to_string();
    let figure = Figure { what: "attempts in flight to the slow receiver", value: waiting };
    Outcome { alone, attacked, figures: vec![figure] }
}

/// Returns a send from each key to the next key of the account.
fn ring(members: &[Member]) -> Vec<Vec<u8>> {
    let next = members.iter().cycle().skip(1);
    let send = |(from, to): (&Member, &Member)| {
        from.send(&format!(r#"{{"to":"{}","message":"slow"}}"#, to.key))
    };
    members.iter().zip(next).map(send).collect()
}
