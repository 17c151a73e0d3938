//! Tests of deliveries to receivers that fail or hang.

use std::time::Duration;

use serde_json::json;

use crate::support::{
    Database, Reaction, Receiver, SOON, eventually, on_both, on_embedded, text, wait_until,
};

on_both!(
    a_burst_beyond_the_memory_arrives_when_the_receiver_keeps_up,
    a_failed_delivery_is_retried_with_the_same_event,
    a_webhook_deleted_between_attempts_gets_no_retry,
    no_request_is_sent_after_the_last_retry,
    a_failed_delivery_is_retried_after_a_restart,
    an_account_with_many_hanging_webhooks_does_not_delay_another,
);
on_embedded!(a_server_without_file_descriptors_blames_no_webhook);

fn a_failed_delivery_is_retried_with_the_same_event(database: &Database) {
    let server = database.serve_with(&["--webhook-retry-schedule", "1100ms,100ms,100ms"]);
    let client = server.client();
    let failures = [Reaction::Status(500), Reaction::Close, Reaction::Status(404)];
    let receiver =
        Receiver::reacting(move |nth| failures.get(nth).cloned().unwrap_or(Reaction::Status(200)));
    let (alice, bob) = database.busy_pair(client);
    let secret = text(&client.register(&bob, &receiver.url), "secret");
    let sent = client.send(&alice, &bob.key, "x").ok();
    let requests = receiver.await_requests(4);
    for request in &requests {
        request.verify(&secret);
        assert_eq!(request.id(), text(&sent, "envelope_id"));
        assert_eq!(request.body, requests[0].body);
    }
    let stamps: Vec<i64> = requests
        .iter()
        .map(|request| request.header("webhook-timestamp").parse().unwrap())
        .collect();
    assert!(stamps[0] < stamps[1] && stamps.is_sorted(), "{stamps:?}");
    assert_ne!(requests[0].header("webhook-signature"), requests[1].header("webhook-signature"));

    let shown = eventually("the success is logged", SOON, || {
        Some(client.only_webhook(&bob)).filter(|shown| shown["last_success_at"].is_string())
    });
    assert!(text(&shown["last_failure"], "at") < text(&shown, "last_success_at"));
    assert!(shown["last_failure"]["error"].is_string());
}

/// The first retry of a counted attempt would follow after an hour.
fn a_server_without_file_descriptors_blames_no_webhook(database: &Database) {
    let (server, receiver) =
        (database.serve_with(&["--webhook-retry-schedule", "1h"]), Receiver::start());
    let (alice, bob) = database.busy_pair(&server);
    server.register(&bob, &receiver.url);
    // No descriptor below this limit is free. The client uses its open connection.
    server.limit_open_files(3);
    server.send(&alice, &bob.key, "x").ok();
    wait_until("the log names the cause", || server.log().contains("Too many open files"));
    let shown = server.only_webhook(&bob);
    assert!(shown["last_failure"].is_null(), "{shown}");
    let webhook = json!({"webhook_id": shown["webhook_id"]});
    let tested = server.act(&bob, "/v1/webhooks/test", &webhook).ok();
    assert!(text(&tested, "error_detail").contains("this node"), "{tested}");
    server.limit_open_files(1024);
    receiver.await_requests(1);
    let attempts = eventually("the attempt is logged", SOON, || {
        let log = server.act(&bob, "/v1/webhooks/deliveries", &webhook).ok();
        let attempts = log["deliveries"].as_array().unwrap();
        let is_over = attempts.iter().all(|attempt| attempt["outcome"] != "pending");
        (is_over && !attempts.is_empty()).then(|| attempts.clone())
    });
    assert_eq!((attempts.len(), &attempts[0]["attempt"]), (1, &json!(1)), "{attempts:?}");
}

fn no_request_is_sent_after_the_last_retry(database: &Database) {
    let server = database.serve_with(&["--webhook-retry-schedule", "10ms,10ms"]);
    let (failing, healthy) = (Receiver::reacting(|_| Reaction::Status(500)), Receiver::start());
    let (alice, bob) = (server.new_identity(), server.new_identity());
    server.register(&bob, &failing.url);
    server.send(&alice, &bob.key, "x").ok();
    let last = failing.await_requests(3)[2].clone();
    // Other deliveries are still swept after the last retry. Two of them are needed, since the sweep has no
    // defined order.
    let carol = server.new_identity();
    let gates = Receiver::reacting(|nth| Reaction::Status(if nth < 2 { 500 } else { 200 }));
    server.register(&carol, &gates.url);
    server.register(&carol, &healthy.url);
    server.send(&alice, &carol.key, "x").ok();
    gates.await_requests(3);
    let requests = failing.requests();
    assert_eq!(requests.len(), 3);
    assert_eq!(requests[2].id(), last.id());
}

fn a_burst_beyond_the_memory_arrives_when_the_receiver_keeps_up(database: &Database) {
    let flags =
        ["--webhook-queue=64", "--webhook-timeout=1m", "--webhook-lease=2m", "--suite=channel"];
    let server = database.serve_with(&flags);
    let receiver = Receiver::reacting(|_| Reaction::Hang);
    let (alice, bob) = database.busy_pair(&server);
    server.register(&bob, &receiver.url);
    for _ in 0..300 {
        server.send(&alice, &bob.key, "x").ok();
    }
    receiver.go_on();
    // No event waits for the end of a lease.
    receiver.await_requests_within(300, Duration::from_secs(30));
}

fn an_account_with_many_hanging_webhooks_does_not_delay_another(database: &Database) {
    let flags = ["--webhook-in-flight=32", "--webhook-timeout=1m", "--webhook-lease=2m"];
    let server = database.serve_with(&flags);
    let client = server.client();
    let webhooks = 48;
    // Each webhook responds once, so its health is good.
    let react = move |nth| if nth < webhooks { Reaction::Status(204) } else { Reaction::Hang };
    let hanging = Receiver::reacting(react);
    let (alice, bob) = database.busy_pair(client);
    let mallory = client.new_identity();
    let keys = [client.sibling(&mallory), client.sibling(&mallory), mallory];
    for nth in 0..webhooks {
        client.register(&keys[nth % keys.len()], &hanging.url);
    }
    let send_to_all = || {
        for key in &keys {
            client.send(&alice, &key.key, "x").ok();
        }
    };
    send_to_all();
    hanging.await_requests(webhooks);
    send_to_all();
    // One slot of each delivery thread at least.
    hanging.await_requests(webhooks + 1);
    let healthy = Receiver::start();
    client.register(&bob, &healthy.url);
    client.send(&alice, &bob.key, "x").ok();
    healthy.await_requests_within(1, Duration::from_secs(10));
    assert!(hanging.requests().len() < 2 * webhooks);
    hanging.go_on();
    hanging.await_requests(2 * webhooks);
}

fn a_webhook_deleted_between_attempts_gets_no_retry(database: &Database) {
    let server = database.serve_with(&["--webhook-retry-schedule", "2s"]);
    let failing = Receiver::reacting(|_| Reaction::Status(500));
    let other = Receiver::reacting(|nth| Reaction::Status(if nth == 0 { 500 } else { 200 }));
    let (alice, bob) = (server.new_identity(), server.new_identity());
    let id = text(&server.register(&bob, &failing.url), "webhook_id");
    server.register(&bob, &other.url);
    server.send(&alice, &bob.key, "x").ok();
    failing.await_requests(1);
    server.manage(&bob, &json!({"action": "delete", "webhook_id": id})).ok();
    other.await_requests(2);
    assert_eq!(failing.requests().len(), 1);
}

fn a_failed_delivery_is_retried_after_a_restart(database: &Database) {
    let server = database.serve_with(&["--webhook-retry-schedule", "1500ms"]);
    let receiver = Receiver::reacting(|nth| Reaction::Status(if nth == 0 { 500 } else { 200 }));
    let (alice, bob) = (server.new_identity(), server.new_identity());
    let secret = text(&server.register(&bob, &receiver.url), "secret");
    server.send(&alice, &bob.key, "x").ok();
    receiver.await_requests(1);
    server.stop();
    let _server = database.serve();
    let requests = receiver.await_requests(2);
    requests[1].verify(&secret);
    assert_eq!(requests[0].id(), requests[1].id());
}
