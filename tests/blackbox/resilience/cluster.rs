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
        within_one_minute,
    },
};

#[test]
fn data_created_on_one_node_is_used_by_the_other() {
    let (_database, [one, other]) = cluster();
    let receiver = Receiver::start();
    let alice = one.client().new_identity();
    let bob = other.client().new_identity_with_handle("bob");
    let secret = text(&one.client().register(&bob, &receiver.url), "secret");
    assert_eq!(other.client().status(&bob).ok()["webhooks"], 1);
    for (number, (sender, opener)) in [(&one, &other), (&other, &one)].into_iter().enumerate() {
        let message = format!("message {number}");
        let sent = sender.client().send(&alice, "bob", &message).ok();
        let request = receiver.await_requests(number + 1).remove(number);
        request.verify(&secret);
        assert_eq!(request.id(), text(&sent, "envelope_id"));
        assert_eq!(opener.client().open(&bob, &request.id()).ok()["message"], message);
    }
    assert_eq!(one.client().status(&alice).ok()["usage"]["month"]["used"], 2);
    other.client().activate(&json!({"label": "a", "handle": "bob"})).refused(409, "HANDLE_TAKEN");
}

#[test]
fn logging_out_on_one_node_ends_the_session_on_the_other_immediately() {
    let (_database, [one, other]) = cluster();
    let alice = one.client().new_identity();
    // The rejection needs no transaction and reports another fault while the session is valid.
    let malformed = |node: &Server| {
        let send = node.client().post("/v1/channel/send").token(&alice.token);
        send.body("application/json", b"{").response()
    };
    // Both nodes have the session in their caches.
    for node in [&one, &other] {
        node.client().send(&alice, &alice.key, "x").ok();
        malformed(node).refused(400, "INVALID_JSON");
    }
    one.client().post("/v1/auth/logout").token(&alice.token).response().ok();
    for node in [&other, &one] {
        malformed(node).refused(401, "UNAUTHORIZED");
        node.client().send(&alice, &alice.key, "x").refused(401, "UNAUTHORIZED");
        node.client().status(&alice).refused(401, "UNAUTHORIZED");
        node.client().open(&alice, "env_x").refused(401, "UNAUTHORIZED");
    }
}

#[test]
fn nodes_with_different_base_urls_are_reported_and_accept_each_others_badges() {
    let database = Database::postgres();
    let [one, other] = ["https://one.example", "https://two.example"];
    let serve = |url: &str| database.serve_with(&["--base-url", url]);
    let first = serve(one);
    eventually("the row of the first node is stored", SOON, || {
        (database.count("nodes") == 1).then_some(())
    });
    let same = serve(one);
    assert!(!same.log().contains("--base-url"), "{}", same.log());
    let second = serve(other);
    let conflict =
        format!("uses this database with the base URL {one}, and this server uses {other}");
    assert!(second.log().contains(&conflict), "{}", second.log());
    eventually("both nodes are warned", SOON, || {
        let ready = |node: &Server| {
            let response = Client::new(&node.ops_url).request("GET", "/readyz").response();
            assert_eq!(response.status, 200);
            String::from_utf8(response.body).unwrap()
        };
        (ready(&first).contains("give all servers the same --base-url")
            && ready(&second).contains(&conflict))
        .then_some(())
    });
    finds(doctor(&database, &["--base-url", other]), "base-url", "warn", &conflict);

    let alice = first.client().new_identity();
    let scores = ["--clarity=1", "--coherence=1", "--confidence=1", "--drift=0"];
    database.operate(&[&["assess", &alice.key], &scores[..]].concat());
    let badge = first.client().act(&alice, "/v1/badges/issue", &json!({})).ok();
    let body = json!({"credential": badge["credential"]});
    let verified = second.client().act(&alice, "/v1/badges/verify", &body).ok();
    assert_eq!(verified["status"], "valid");
}

#[test]
fn a_webhook_deleted_on_one_node_gets_no_requests_from_the_other() {
    let (_database, [one, other]) = cluster();
    let (kept, deleted) = (Receiver::start(), Receiver::start());
    let bob = one.client().new_identity();
    one.client().register(&bob, &kept.url);
    let id = text(&one.client().register(&bob, &deleted.url), "webhook_id");
    other.client().send(&bob, &bob.key, "x").ok();
    deleted.await_requests(1);
    one.client().manage(&bob, &json!({"action": "delete", "webhook_id": id})).ok();
    other.client().send(&bob, &bob.key, "x").ok();
    kept.await_requests(2);
    assert_eq!(deleted.requests().len(), 1);
}

#[test]
fn queued_deliveries_are_dropped_when_another_node_revokes_the_key() {
    let (database, [one, other]) = cluster();
    let slow = Receiver::reacting(|_| Reaction::Hang);
    let (alice, bob) = (one.client().new_identity(), one.client().new_identity());
    one.client().register(&bob, &slow.url);
    for _ in 0..8 {
        other.client().send(&alice, &bob.key, "x").ok();
    }
    slow.await_requests(1);
    let holds = |count: usize| {
        let metrics = Client::new(&other.ops_url).request("GET", "/metrics").response().body;
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

#[test]
fn two_nodes_together_admit_a_key_as_often_as_one_node() {
    let (_database, nodes) = cluster();
    let (sends, admitted) = within_one_minute(|| {
        let alice = nodes[0].client().new_identity();
        let (sends, others) = (AtomicUsize::new(0), AtomicUsize::new(0));
        thread::scope(|scope| {
            for node in &nodes {
                scope.spawn(|| count_sends(node.client(), &alice, &sends));
                scope.spawn(|| count_looks(node.client(), &alice, &others));
            }
        });
        let sends = sends.into_inner();
        (sends, sends + others.into_inner())
    });
    assert_eq!(admitted, 20, "{sends} of these requests are sends");
}

on_both!(a_concurrent_burst_is_admitted_up_to_the_limit);

/// One node handles the requests in shared batches. Each request must still count against the limit.
fn a_concurrent_burst_is_admitted_up_to_the_limit(database: &Database) {
    let server = database.serve();
    let admitted = within_one_minute(|| {
        let alice = server.client().new_identity();
        let admitted = AtomicUsize::new(0);
        thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| count_sends(server.client(), &alice, &admitted));
                scope.spawn(|| count_looks(server.client(), &alice, &admitted));
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
