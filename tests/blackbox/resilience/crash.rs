//! Tests that a killed server loses no acknowledged envelope.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use crate::support::{Database, Pairs, Reaction, Receiver, on_both};

on_both!(
    every_delivery_arrives_after_a_kill_during_dispatch,
    acknowledged_envelopes_survive_a_kill,
    acknowledged_channel_envelopes_survive_a_kill,
);

fn every_delivery_arrives_after_a_kill_during_dispatch(database: &Database) {
    let flags =
        ["--webhook-timeout=2s", "--webhook-lease=12s", "--webhook-retry-schedule=1s,1s,1s"];
    // At the kill some deliveries are complete, some wait for a response, and the rest are queued.
    let is_accepting = Arc::new(AtomicBool::new(false));
    let accepts = Arc::clone(&is_accepting);
    let receiver = Receiver::reacting(move |nth| {
        let has_response = nth < ANSWERED || accepts.load(Ordering::Relaxed);
        if has_response { Reaction::Status(204) } else { Reaction::Ignore }
    });
    let server = database.serve_with(&flags);
    let pairs = Pairs::activate(&server, &receiver);
    let client = server.client().clone();
    pairs.send_until(&client, ACKNOWLEDGED, || {
        receiver.await_requests(ANSWERED + 1);
        server.kill();
    });
    let has_response: Vec<_> = receiver.requests().iter().map(|n| n.has_response).collect();
    assert!(has_response.contains(&true) && has_response.contains(&false));
    is_accepting.store(true, Ordering::Relaxed);
    let server = database.serve_with(&flags);
    let twice = pairs.check(&server, &receiver, Duration::from_mins(1));
    eprintln!("{} envelopes acknowledged, {twice} duplicate deliveries", pairs.count());
    server.stop();
}

fn acknowledged_envelopes_survive_a_kill(database: &Database) {
    kill_repeatedly(database, "--suite=hybrid");
}

fn acknowledged_channel_envelopes_survive_a_kill(database: &Database) {
    kill_repeatedly(database, "--suite=channel");
}

fn kill_repeatedly(database: &Database, suite: &str) {
    let flags = [
        suite,
        "--webhook-timeout=2s",
        "--webhook-lease=12s",
        "--webhook-retry-schedule=1s,1s,1s,1s,1s",
    ];
    // Until the last kill every third request is in flight when the server dies.
    let is_accepting = Arc::new(AtomicBool::new(false));
    let accepts = Arc::clone(&is_accepting);
    let receiver = Receiver::reacting(move |nth| {
        let is_ignored = !accepts.load(Ordering::Relaxed) && nth % 3 == 0;
        if is_ignored { Reaction::Ignore } else { Reaction::Status(204) }
    });
    let mut server = database.serve_with(&flags);
    let pairs = Pairs::activate(&server, &receiver);
    for _ in 0..KILLS {
        let client = server.client().clone();
        pairs.send_until(&client, ACKNOWLEDGED, || server.kill());
        server = database.serve_with(&flags);
    }
    is_accepting.store(true, Ordering::Relaxed);
    // Leases of a dead node end with their time, or at the restart of the only node.
    let twice = pairs.check(&server, &receiver, Duration::from_mins(1));
    eprintln!(
        "{} envelopes acknowledged over {KILLS} kills, {twice} duplicate deliveries",
        pairs.count()
    );
    server.stop();
}

const ANSWERED: usize = 20;
const KILLS: usize = 3;
const ACKNOWLEDGED: usize = 80;
