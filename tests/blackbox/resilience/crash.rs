//! A server that is killed in the middle of its work loses nothing that it has acknowledged.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use crate::support::{Database, Pairs, Reaction, Receiver, on_both};

on_both!(
    every_delivery_arrives_though_the_server_is_killed_in_the_middle_of_dispatch,
    nothing_acknowledged_is_lost_when_the_server_is_killed,
    nothing_sealed_in_a_channel_is_lost_when_the_server_is_killed,
);

fn every_delivery_arrives_though_the_server_is_killed_in_the_middle_of_dispatch(
    database: &Database,
) {
    let flags =
        ["--webhook-timeout=2s", "--webhook-lease=12s", "--webhook-retry-schedule=1s,1s,1s"];
    // Some are delivered, some wait for an answer, and the rest waits for its turn, when the server dies.
    let is_well = Arc::new(AtomicBool::new(false));
    let well = Arc::clone(&is_well);
    let receiver = Receiver::reacting(move |nth| {
        let is_answered = nth < ANSWERED || well.load(Ordering::Relaxed);
        if is_answered { Reaction::Answer(204) } else { Reaction::Ignore }
    });
    let server = database.serve_with(&flags);
    let pairs = Pairs::activate(server.client(), &receiver);
    let client = server.client().clone();
    pairs.send_until(&client, ACKNOWLEDGED, || {
        receiver.await_notices(ANSWERED + 1);
        server.kill();
    });
    let is_answered: Vec<_> = receiver.notices().iter().map(|n| n.is_answered).collect();
    assert!(is_answered.contains(&true) && is_answered.contains(&false));
    is_well.store(true, Ordering::Relaxed);
    let server = database.serve_with(&flags);
    let twice = pairs.check(server.client(), &receiver, Duration::from_mins(1));
    eprintln!("{} envelopes acknowledged, {twice} notices twice", pairs.count());
    server.stop();
}

fn nothing_acknowledged_is_lost_when_the_server_is_killed(database: &Database) {
    kill_again_and_again(database, "--suite=hybrid");
}

fn nothing_sealed_in_a_channel_is_lost_when_the_server_is_killed(database: &Database) {
    kill_again_and_again(database, "--suite=channel");
}

fn kill_again_and_again(database: &Database, suite: &str) {
    let flags = [
        suite,
        "--webhook-timeout=2s",
        "--webhook-lease=12s",
        "--webhook-retry-schedule=1s,1s,1s,1s,1s",
    ];
    // Until the last kill every third notice is under way when the server dies.
    let is_well = Arc::new(AtomicBool::new(false));
    let well = Arc::clone(&is_well);
    let receiver = Receiver::reacting(move |nth| {
        let is_ignored = !well.load(Ordering::Relaxed) && nth % 3 == 0;
        if is_ignored { Reaction::Ignore } else { Reaction::Answer(204) }
    });
    let mut server = database.serve_with(&flags);
    let pairs = Pairs::activate(server.client(), &receiver);
    for _ in 0..KILLS {
        let client = server.client().clone();
        pairs.send_until(&client, ACKNOWLEDGED, || server.kill());
        server = database.serve_with(&flags);
    }
    is_well.store(true, Ordering::Relaxed);
    // What a dead node held is taken over when its lease has run out, unless nobody else can hold it.
    let twice = pairs.check(server.client(), &receiver, Duration::from_mins(1));
    eprintln!("{} envelopes acknowledged over {KILLS} kills, {twice} notices twice", pairs.count());
    server.stop();
}

const ANSWERED: usize = 20;
const KILLS: usize = 3;
const ACKNOWLEDGED: usize = 80;
