//! Tests that SIGTERM stops a server in order, and that a second SIGTERM stops it immediately.

use std::{process::Stdio, sync::mpsc::channel, time::Duration};

use diesel::{Connection as _, PgConnection, connection::SimpleConnection as _};

use crate::support::{
    Database, Pairs, Process, Reaction, Receiver, SOON, Server, eventually, on_both, text,
    wait_until,
};

on_both!(
    shutdown_waits_for_a_request_in_flight,
    a_second_signal_stops_the_server_immediately,
    an_idle_server_stops_quickly,
    envelopes_acknowledged_during_shutdown_survive_a_restart,
);

fn envelopes_acknowledged_during_shutdown_survive_a_restart(database: &Database) {
    let receiver = Receiver::start();
    let mut server = database.serve();
    let pairs = Pairs::activate(&server, &receiver);
    let client = server.client().clone();
    pairs.send_until(&client, 100, || server.terminate());
    assert_eq!(server.ended(STOP_MAX), Some(0));
    let server = database.serve();
    let twice = pairs.check(&server, &receiver, SOON);
    assert_eq!(twice, 0, "an orderly shutdown releases all leases");
}

fn shutdown_waits_for_a_request_in_flight(database: &Database) {
    let receiver =
        Receiver::reacting(|nth| if nth == 0 { Reaction::Hang } else { Reaction::Status(204) });
    let mut server = database.serve();
    let bob = server.new_identity();
    server.register(&bob, &receiver.url);
    let sent = server.send(&bob, &bob.key, "x").ok();
    receiver.await_requests(1);
    server.terminate();
    await_closed(&server);
    receiver.go_on();
    assert_eq!(server.ended(STOP_MAX), Some(0));
    let server = database.serve();
    let marker = server.send(&bob, &bob.key, "y").ok();
    let requests = receiver.await_requests(2);
    assert_eq!(requests[0].id(), text(&sent, "envelope_id"));
    assert_eq!(
        requests[1].id(),
        text(&marker, "envelope_id"),
        "the first delivery was stored as delivered"
    );
}

fn a_second_signal_stops_the_server_immediately(database: &Database) {
    let receiver = Receiver::reacting(|_| Reaction::Hang);
    let mut server = database.serve();
    let bob = server.new_identity();
    server.register(&bob, &receiver.url);
    server.send(&bob, &bob.key, "x").ok();
    receiver.await_requests(1);
    server.terminate();
    await_closed(&server);
    assert_eq!((server.health("/readyz"), server.health("/livez")), (503, 200));
    server.terminate();
    server.ended(Duration::from_secs(5));
}

fn an_idle_server_stops_quickly(database: &Database) {
    let server = database.serve();
    let (stopped, is_stopped) = channel();
    // Opens a keep-alive connection.
    server.new_identity();
    std::thread::spawn(move || {
        server.stop();
        stopped.send(()).unwrap();
    });
    is_stopped
        .recv_timeout(Duration::from_secs(10))
        .expect("the server waits for an idle connection");
}

#[test]
fn a_signal_ends_a_start_that_waits_for_another_migration() {
    let database = Database::postgres();
    let mut migration = PgConnection::establish(database.url()).unwrap();
    migration.batch_execute(&format!("SELECT pg_advisory_lock({MIGRATION_LOCK})")).unwrap();
    let mut command = database.command(&["--dev"]);
    command.stdout(Stdio::null());
    let mut server = Process::start(command);
    let waiting = "pg_locks WHERE locktype = 'advisory' AND NOT granted
        AND database = (SELECT oid FROM pg_database WHERE datname = current_database())";
    wait_until("the server waits", || database.count(waiting) == 1);
    server.terminate();
    assert_eq!(server.ended(SOON), Some(0));
}

/// Waits until the server accepts no more requests.
fn await_closed(server: &Server) {
    let ping = || server.request("GET", "/v1/ping").header("Connection", "close");
    eventually("no new request is accepted", SOON, || ping().try_response().err());
}

const STOP_MAX: Duration = Duration::from_secs(30);
/// The advisory lock of PostgreSQL that each migration takes.
const MIGRATION_LOCK: i64 = 0x7365_616c_706f_7374;
