//! Tests that two servers with the same PostgreSQL database and key file act as one service.

use std::{
    sync::atomic::{AtomicUsize, Ordering},
    thread,
    time::Duration,
};

use serde_json::json;

use crate::{
    operations::{doctor, finds},
    support::{
        Client, Database, Identity, Reaction, Receiver, SOON, Server, eventually, on_both, text,
        wait_until, within_one_minute,
    },
};

#[test]
fn data_created_on_one_node_is_used_by_the_other() {
    let (_database, [one, other]) = cluster();
    let receiver = Receiver::start();
    let alice = one.new_identity();
    let bob = other.new_identity_with_handle("bob");
    let secret = text(&one.register(&bob, &receiver.url), "secret");
    assert_eq!(other.status(&bob).ok()["webhooks"], 1);
    for (number, (sender, opener)) in [(&one, &other), (&other, &one)].into_iter().enumerate() {
        let message = format!("message {number}");
        let sent = sender.send(&alice, "bob", &message).ok();
        let request = receiver.await_requests(number + 1).remove(number);
        request.verify(&secret);
        assert_eq!(request.id(), text(&sent, "envelope_id"));
        assert_eq!(opener.open(&bob, &request.id()).ok()["message"], message);
    }
    assert_eq!(one.status(&alice).ok()["usage"]["month"]["used"], 2);
    other.activate(&json!({"label": "a", "handle": "bob"})).refused(409, "HANDLE_TAKEN");
}

#[test]
fn logging_out_on_one_node_ends_the_session_on_the_other_immediately() {
    let (_database, [one, other]) = cluster();
    let alice = one.new_identity();
    // The rejection needs no transaction and reports another fault while the session is valid.
    let malformed = |node: &Server| {
        let send = node.post("/v1/channel/send").token(&alice.token);
        send.body("application/json", b"{").response()
    };
    // Both nodes have the session in their caches.
    for node in [&one, &other] {
        node.send(&alice, &alice.key, "x").ok();
        malformed(node).refused(400, "INVALID_JSON");
    }
    one.post("/v1/auth/logout").token(&alice.token).response().ok();
    for node in [&other, &one] {
        malformed(node).refused(401, "UNAUTHORIZED");
        node.send(&alice, &alice.key, "x").refused(401, "UNAUTHORIZED");
        node.status(&alice).refused(401, "UNAUTHORIZED");
        node.open(&alice, "env_x").refused(401, "UNAUTHORIZED");
    }
}

#[test]
fn nodes_with_different_base_urls_are_reported_and_accept_each_others_badges() {
    let database = Database::postgres();
    let [one, other] = ["https://one.example", "https://two.example"];
    let serve = |url: &str| database.serve_with(&["--base-url", url]);
    let first = serve(one);
    wait_until("the row of the first node is stored", || database.count("nodes") == 1);
    let same = serve(one);
    assert!(!same.log().contains("--base-url"), "{}", same.log());
    let second = serve(other);
    let conflict =
        format!("uses this database with the base URL {one}, and this server uses {other}");
    assert!(second.log().contains(&conflict), "{}", second.log());
    wait_until("both nodes are warned", || {
        let [(status, first), (other_status, second)] = [&first, &second].map(Server::readiness);
        assert_eq!((status, other_status), (200, 200));
        first.contains("give all servers the same --base-url") && second.contains(&conflict)
    });
    finds(doctor(&database, &["--base-url", other]), "base-url", "warn", &conflict);

    let alice = first.new_identity();
    database.assess(&alice.key, ["1", "1", "1", "0"]);
    let badge = first.act(&alice, "/v1/badges/issue", &json!({})).ok();
    let body = json!({"credential": badge["credential"]});
    let verified = second.act(&alice, "/v1/badges/verify", &body).ok();
    assert_eq!(verified["status"], "valid");
}

#[test]
fn queued_deliveries_are_dropped_when_another_node_revokes_the_key() {
    let (database, [one, other]) = cluster();
    let slow = Receiver::reacting(|_| Reaction::Hang);
    let (alice, bob) = (one.new_identity(), one.new_identity());
    one.register(&bob, &slow.url);
    for _ in 0..8 {
        other.send(&alice, &bob.key, "x").ok();
    }
    slow.await_requests(1);
    let holds = |count: usize| {
        let metrics = Client::new(&other.ops_url).get("/metrics").body;
        let held = format!("sealpost_deliveries_held {count}");
        String::from_utf8(metrics).unwrap().lines().any(|line| line == held).then_some(())
    };
    eventually("seven deliveries wait for the first", SOON, || holds(8));
    database.operate(&["key", "revoke", &bob.key]);
    // Well before the first request times out.
    eventually("only the delivery in flight is held", Duration::from_secs(8), || holds(1));
    slow.go_on();
    eventually("no delivery is held", SOON, || holds(0));
    assert_eq!(slow.requests().len(), 1);
}

on_both!(a_concurrent_burst_is_admitted_up_to_the_limit);

/// A node handles the requests in shared batches. Each request must still count against the limit, which the nodes share.
fn a_concurrent_burst_is_admitted_up_to_the_limit(database: &Database) {
    let nodes = database.serve_on_every_node();
    let admitted = within_one_minute(|| {
        let alice = nodes[0].new_identity();
        let admitted = AtomicUsize::new(0);
        thread::scope(|scope| {
            for node in nodes.iter().cycle().take(4) {
                scope.spawn(|| count_sends(node.client(), &alice, &admitted));
                scope.spawn(|| count_looks(node.client(), &alice, &admitted));
            }
        });
        admitted.into_inner()
    });
    assert_eq!(admitted, 20);
}

/// Sends until the limit per minute is reached. Continues after rejections by the limit of ten messages per second,
/// because that limit resets after a second.
fn count_sends(client: &Client, identity: &Identity, admitted: &AtomicUsize) {
    loop {
        let response = client.send(identity, &identity.key, "x");
        if response.status == 200 {
            admitted.fetch_add(1, Ordering::Relaxed);
            continue;
        }
        let problem = response.refused(429, "RATE_LIMIT_EXCEEDED");
        if text(&problem, "detail").contains("minute") {
            return;
        }
    }
}

/// Requests the status eight times, while other threads send. Counts the admitted requests.
fn count_looks(client: &Client, identity: &Identity, admitted: &AtomicUsize) {
    for _ in 0..8 {
        if client.status(identity).status == 200 {
            admitted.fetch_add(1, Ordering::Relaxed);
        }
    }
}

fn cluster() -> (Database, [Server; 2]) {
    let database = Database::postgres();
    let nodes = [database.serve(), database.serve()];
    (database, nodes)
}
