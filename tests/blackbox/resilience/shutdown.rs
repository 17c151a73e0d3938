//! SIGTERM stops a server in order; a second one at once.

use std::{sync::mpsc::channel, time::Duration};

use crate::support::{
    Database, Pairs, Reaction, Receiver, SOON, Server, eventually, on_both, text,
};

on_both!(
    a_notice_under_way_is_waited_for,
    a_second_signal_ends_it_at_once,
    an_idle_server_stops_quickly,
    what_a_stopping_server_acknowledged_is_there_after_a_restart,
);

fn what_a_stopping_server_acknowledged_is_there_after_a_restart(database: &Database) {
    let receiver = Receiver::start();
    let mut server = database.serve();
    let pairs = Pairs::activate(server.client(), &receiver);
    let client = server.client().clone();
    pairs.send_until(&client, 100, || server.terminate());
    assert_eq!(server.ended(STOP_MAX), Some(0));
    let server = database.serve();
    let twice = pairs.check(server.client(), &receiver, SOON);
    assert_eq!(twice, 0, "a stop in order gives everything back");
}

fn a_notice_under_way_is_waited_for(database: &Database) {
    let receiver =
        Receiver::reacting(|nth| if nth == 0 { Reaction::Hang } else { Reaction::Answer(204) });
    let mut server = database.serve();
    let bob = server.client().newcomer();
    server.client().register(&bob, &receiver.url);
    let sent = server.client().send(&bob, &bob.key, "x").ok();
    receiver.await_notices(1);
    server.terminate();
    await_closed(&server);
    receiver.go_on();
    assert_eq!(server.ended(STOP_MAX), Some(0));
    let server = database.serve();
    let marker = server.client().send(&bob, &bob.key, "y").ok();
    let notices = receiver.await_notices(2);
    assert_eq!(notices[0].id(), text(&sent, "envelope_id"));
    assert_eq!(
        notices[1].id(),
        text(&marker, "envelope_id"),
        "the first was written down as delivered"
    );
}

fn a_second_signal_ends_it_at_once(database: &Database) {
    let receiver = Receiver::reacting(|_| Reaction::Hang);
    let mut server = database.serve();
    let bob = server.client().newcomer();
    server.client().register(&bob, &receiver.url);
    server.client().send(&bob, &bob.key, "x").ok();
    receiver.await_notices(1);
    server.terminate();
    await_closed(&server);
    server.terminate();
    server.ended(Duration::from_secs(5));
}

fn an_idle_server_stops_quickly(database: &Database) {
    let server = database.serve();
    let (stopped, is_stopped) = channel();
    // With a connection that is kept alive.
    server.client().newcomer();
    std::thread::spawn(move || {
        server.stop();
        stopped.send(()).unwrap();
    });
    is_stopped.recv_timeout(Duration::from_secs(10)).expect("it hangs on an idle connection");
}

/// Waits until no request is taken any more.
fn await_closed(server: &Server) {
    let ping = || server.client().request("GET", "/v1/ping").header("Connection", "close");
    eventually("no new request is taken", SOON, || ping().try_answer().err());
}

const STOP_MAX: Duration = Duration::from_secs(30);
