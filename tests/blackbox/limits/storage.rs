//! Tests of storage limits: the byte quota of an account, and the free disk space of the embedded database.

use std::{path::Path, time::Duration};

use serde_json::json;

use crate::support::{
    Client, Database, Identity, Receiver, Server, SmallDisk, eventually, on_both, on_embedded,
    text, wait_until,
};

on_both!(an_account_stores_sealed_bytes_up_to_its_quota);
on_embedded!(a_quota_of_zero_is_no_quota);

const QUOTA: u64 = 20_000;

fn quota() -> String {
    format!("--stored-bytes-per-account={QUOTA}")
}

/// Sends until the quota refuses a send. Returns the number of sealed bytes stored.
fn fill(client: &Client, from: &Identity, to: &Identity) -> u64 {
    let mut stored = 0;
    loop {
        let response = client.send(from, &to.key, &"x".repeat(3000));
        if response.status != 200 {
            let problem = response.refused(403, "QUOTA_EXCEEDED");
            assert!(text(&problem, "detail").contains(&QUOTA.to_string()), "{problem}");
            return stored;
        }
        stored += response.ok()["metadata"]["payload_size_bytes"].as_u64().unwrap();
    }
}

fn an_account_stores_sealed_bytes_up_to_its_quota(database: &Database) {
    let server = database.serve_with(&[&quota()]);
    let client = server.client();
    let (alice, bob) = database.busy_pair(client);
    let sibling = client.sibling(&alice);
    let before = client.status(&alice).ok()["usage"]["month"]["used"].clone();
    let stored = fill(client, &alice, &bob);
    assert!((QUOTA - 4500..=QUOTA).contains(&stored), "{stored}");
    let count = client.status(&alice).ok()["usage"]["month"]["used"].clone();
    assert_ne!(before, count);
    client.send(&alice, &bob.key, &"x".repeat(4500)).refused(403, "QUOTA_EXCEEDED");
    let usage = client.status(&alice).ok()["usage"]["month"]["used"].clone();
    assert_eq!(usage, count, "a refused send is not a message");
    // The keys of an account share the quota, and a revoked key's envelopes still count.
    client.send(&sibling, &bob.key, &"x".repeat(4500)).refused(403, "QUOTA_EXCEEDED");
    database.operate(&["key", "revoke", &alice.key]);
    client.send(&sibling, &bob.key, &"x".repeat(4500)).refused(403, "QUOTA_EXCEEDED");
    // Receiving takes no room.
    client.send(&bob, &sibling.key, &"x".repeat(4500)).ok();
    server.stop();
    // The count survives a restart, and every other node has it too.
    for _ in 0..2 {
        let server = database.serve_with(&[&quota()]);
        server.send(&sibling, &bob.key, &"x".repeat(4500)).refused(403, "QUOTA_EXCEEDED");
    }
}

fn a_quota_of_zero_is_no_quota(database: &Database) {
    let server = database.serve_with(&["--stored-bytes-per-account=0"]);
    let (alice, bob) = database.busy_pair(&server);
    for _ in 0..10 {
        server.send(&alice, &bob.key, &"x".repeat(3000)).ok();
    }
}

/// Each node counts its own sends at once, and the sends of other nodes within seconds.
#[test]
fn a_quota_that_another_node_used_up_holds_soon() {
    let database = Database::postgres();
    let servers = [(); 2].map(|()| database.serve_with(&[&quota()]));
    let [here, there] = servers.each_ref().map(Server::client);
    let (alice, bob) = database.busy_pair(here);
    // The other node reads the account while it is above half of its quota.
    for _ in 0..3 {
        here.send(&alice, &bob.key, &"x".repeat(3000)).ok();
    }
    there.send(&alice, &bob.key, "x").ok();
    fill(here, &alice, &bob);
    eventually("the other node refuses", Duration::from_secs(20), || {
        let response = there.send(&alice, &bob.key, &"x".repeat(3000));
        (response.status == 403).then_some(())
    });
}

/// Requires more free space than any disk has, so the limit applies from the start of the server.
#[test]
fn without_free_space_only_sends_and_activations_are_refused() {
    let (database, receiver) = (Database::embedded(), Receiver::start());
    let server = database.serve();
    let client = server.client();
    let (alice, bob) = (client.new_identity(), client.new_identity());
    let webhook = client.register(&bob, &receiver.url);
    let named = |client: &Client, message: &str| {
        let body = json!({"to": bob.key, "message": message});
        let request = client.post("/v1/channel/send").by(&alice).header("Idempotency-Key", "one");
        request.json(&body).response()
    };
    let sent = text(&named(client, "hello").ok(), "envelope_id");
    server.stop();

    let server = database.serve_with(&["--min-free-bytes=18446744073709551615"]);
    let used = || server.status(&alice).ok()["usage"]["month"]["used"].clone();
    for response in [
        server.send(&alice, &bob.key, "x"),
        server.activate(&json!({"label": "a"})),
        server.post("/v1/did/activate").token(&alice.token).json(&json!({"label": "a"})).response(),
    ] {
        let problem = response.refused(503, "SERVICE_UNAVAILABLE");
        assert!(text(&problem, "detail").contains("disk"), "{problem}");
        assert!(response.header("retry-after").is_some());
    }
    assert_eq!(used(), 1);
    // The checks before storing still come first.
    server.send(&alice, "nobody-has-this", "x").refused(404, "KEY_NOT_FOUND");
    let replay = named(&server, "hello");
    assert_eq!(replay.header("idempotency-replayed"), Some("true"));
    assert_eq!(replay.ok()["envelope_id"], sent);
    // Everything else continues.
    assert_eq!(server.open(&bob, &sent).ok()["message"], "hello");
    server.manage(&bob, &json!({"action": "delete", "webhook_id": webhook["webhook_id"]})).ok();
    server.register(&bob, &receiver.url);
    database.operate(&["key", "revoke", &bob.key]);
    server.log_in(&alice).ok();
    server.post("/v1/auth/logout").token(&alice.token).response().ok();
    server.status(&alice).refused(401, "UNAUTHORIZED");
}

/// The disk is a small tmpfs. Mounting needs root, so without root this test does nothing.
#[test]
fn a_disk_that_fills_up_stops_sends_and_nothing_else() {
    let database = Database::embedded();
    let Some(disk) = SmallDisk::mount(&database.data()) else { return };
    let server = database.serve_with(&["--min-free-bytes=16777216"]);
    let (alice, bob) = database.busy_pair(&server);
    let reserve = Path::new(&database.data()).join("sealpost.db.reserve");
    wait_until("the reserve is set aside", || reserve.exists());
    assert_eq!(server.health("/readyz"), 200);
    let message = "x".repeat(250_000);
    let mut sent = Vec::new();
    let refused = loop {
        let response = server.send(&alice, &bob.key, &message);
        if response.status != 200 {
            break response.refused(503, "SERVICE_UNAVAILABLE");
        }
        sent.push(text(&response.ok(), "envelope_id"));
        assert!(sent.len() < 1000, "the disk never filled up");
    };
    assert!(text(&refused, "detail").contains("disk"), "{refused}");
    assert!(sent.len() > 10, "{}", sent.len());
    assert_eq!((server.health("/livez"), server.health("/readyz")), (200, 503));
    // Another program takes the rest. The server then gives up its reserve.
    disk.fill();
    wait_until("the reserve is released", || !reserve.exists());
    server.send(&alice, &bob.key, &message).refused(503, "SERVICE_UNAVAILABLE");
    for id in &sent {
        assert_eq!(server.open(&bob, id).ok()["message"].as_str().unwrap().len(), message.len());
    }
    server.log_in(&alice).ok();
    database.operate(&["key", "deactivate", &bob.key]);
    database.operate(&["key", "reactivate", &bob.key]);
    server.post("/v1/auth/logout").token(&bob.token).response().ok();
    disk.make_room();
    // After deletions the file stays as large, but its pages are free again.
    database.by_hand("DELETE FROM envelopes");
    for _ in 0..sent.len() / 2 {
        server.send(&alice, &bob.key, &message).ok();
    }
    assert_eq!(server.health("/readyz"), 200);
}

/// The disk is a small tmpfs, as above. Without a server, no thread releases the reserve.
#[test]
fn a_server_and_a_command_start_on_a_full_disk() {
    let database = Database::embedded();
    let Some(disk) = SmallDisk::mount(&database.data()) else { return };
    let serve = || database.serve_with(&["--min-free-bytes=16777216"]);
    let reserve = Path::new(&database.data()).join("sealpost.db.reserve");
    let fill_after = |server: Server| {
        wait_until("the reserve is set aside", || reserve.exists());
        server.stop();
        // Deletes the write-ahead log, because this connection is the last one that closes.
        database.count("accounts");
        disk.fill();
    };
    let server = serve();
    let alice = server.new_identity();
    fill_after(server);
    let server = serve();
    assert!(!reserve.exists());
    assert_eq!(server.health("/readyz"), 503);
    server.status(&alice).ok();
    disk.make_room();
    fill_after(server);
    database.operate(&["key", "revoke", &alice.key]);
    assert!(!reserve.exists());
}
