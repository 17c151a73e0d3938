//! Two servers on one PostgreSQL with one key file are one service.

use std::{
    sync::atomic::{AtomicUsize, Ordering},
    thread,
    time::Duration,
};

use serde_json::json;

use crate::support::{
    Client, Database, Identity, Reaction, Receiver, SOON, Server, eventually, on_both, text,
    within_one_minute,
};

#[test]
fn what_is_made_on_one_node_counts_on_the_other() {
    let (_database, [one, other]) = cluster();
    let receiver = Receiver::start();
    let alice = one.client().newcomer();
    let bob = other.client().newcomer_named("bob");
    let secret = text(&one.client().register(&bob, &receiver.url), "secret");
    assert_eq!(other.client().status(&bob).ok()["webhooks"], 1);
    for (number, (sender, opener)) in [(&one, &other), (&other, &one)].into_iter().enumerate() {
        let message = format!("message {number}");
        let sent = sender.client().send(&alice, "bob", &message).ok();
        let notice = receiver.await_notices(number + 1).remove(number);
        notice.verify(&secret);
        assert_eq!(notice.id(), text(&sent, "envelope_id"));
        assert_eq!(opener.client().open(&bob, &notice.id()).ok()["message"], message);
    }
    assert_eq!(one.client().status(&alice).ok()["usage"]["month"]["used"], 2);
    other.client().activate(&json!({"label": "a", "handle": "bob"})).refused(409, "HANDLE_TAKEN");
}

#[test]
fn logging_out_on_one_node_ends_the_session_on_the_other_at_once() {
    let (_database, [one, other]) = cluster();
    let alice = one.client().newcomer();
    // Refused without a transaction, as long as the session lives for another fault.
    let malformed = |node: &Server| {
        let send = node.client().post("/v1/channel/send").token(&alice.token);
        send.body("application/json", b"{").answer()
    };
    // Both have the session in memory.
    for node in [&one, &other] {
        node.client().send(&alice, &alice.key, "x").ok();
        malformed(node).refused(400, "INVALID_JSON");
    }
    one.client().post("/v1/auth/logout").token(&alice.token).answer().ok();
    for node in [&other, &one] {
        malformed(node).refused(401, "UNAUTHORIZED");
        node.client().send(&alice, &alice.key, "x").refused(401, "UNAUTHORIZED");
        node.client().status(&alice).refused(401, "UNAUTHORIZED");
        node.client().open(&alice, "env_x").refused(401, "UNAUTHORIZED");
    }
}

#[test]
fn a_webhook_deleted_on_one_node_gets_nothing_from_the_other() {
    let (_database, [one, other]) = cluster();
    let (kept, deleted) = (Receiver::start(), Receiver::start());
    let bob = one.client().newcomer();
    one.client().register(&bob, &kept.url);
    let id = text(&one.client().register(&bob, &deleted.url), "webhook_id");
    other.client().send(&bob, &bob.key, "x").ok();
    deleted.await_notices(1);
    one.client().manage(&bob, &json!({"action": "delete", "webhook_id": id})).ok();
    other.client().send(&bob, &bob.key, "x").ok();
    kept.await_notices(2);
    assert_eq!(deleted.notices().len(), 1);
}

#[test]
fn what_waits_on_one_node_is_dropped_when_the_key_is_revoked_beside_it() {
    let (database, [one, other]) = cluster();
    let slow = Receiver::reacting(|_| Reaction::Hang);
    let (alice, bob) = (one.client().newcomer(), one.client().newcomer());
    one.client().register(&bob, &slow.url);
    for _ in 0..8 {
        other.client().send(&alice, &bob.key, "x").ok();
    }
    slow.await_notices(1);
    let holds = |count: usize| {
        let metrics = Client::new(&other.ops_url).request("GET", "/metrics").answer().body;
        let held = format!("sealpost_deliveries_held {count}");
        String::from_utf8(metrics).unwrap().lines().any(|line| line == held).then_some(())
    };
    eventually("seven wait for the first", SOON, || holds(8));
    database.operate(&["key", "revoke", &bob.key]);
    // Long before the first is given up.
    eventually("only what is under way is held", Duration::from_secs(8), || holds(1));
    slow.go_on();
    eventually("nothing is held", SOON, || holds(0));
    assert_eq!(slow.notices().len(), 1);
}

#[test]
fn a_key_is_admitted_no_more_often_by_two_nodes_than_by_one() {
    let (_database, nodes) = cluster();
    let (sends, admitted) = within_one_minute(|| {
        let alice = nodes[0].client().newcomer();
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
    assert_eq!(admitted, 20, "{sends} of them sends");
}

on_both!(a_burst_from_many_threads_is_admitted_up_to_the_limit);

/// The same on one node: the requests share batches, and each of them counts.
fn a_burst_from_many_threads_is_admitted_up_to_the_limit(database: &Database) {
    let server = database.serve();
    let admitted = within_one_minute(|| {
        let alice = server.client().newcomer();
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

/// Sends until the minute is used up. Ten messages a second are a limit too, which is over within a second.
fn count_sends(client: &Client, who: &Identity, admitted: &AtomicUsize) {
    loop {
        let answer = client.send(who, &who.key, "x");
        if answer.status == 200 {
            admitted.fetch_add(1, Ordering::Relaxed);
            continue;
        }
        let problem = answer.refused(429, "RATE_LIMIT_EXCEEDED");
        if text(&problem, "detail").contains("minute") {
            return;
        }
    }
}

/// Looks a few times, so that sends come in between.
fn count_looks(client: &Client, who: &Identity, admitted: &AtomicUsize) {
    for _ in 0..8 {
        if client.status(who).status == 200 {
            admitted.fetch_add(1, Ordering::Relaxed);
        }
    }
}

fn cluster() -> (Database, [Server; 2]) {
    let database = Database::postgres();
    let nodes = [database.serve(), database.serve()];
    (database, nodes)
}
