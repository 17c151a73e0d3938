//! Tests of deliveries to receivers that fail, hang, or redirect.

use std::time::Duration;

use serde_json::{Value, json};

use crate::support::{
    Client, Database, Identity, Reaction, Receiver, SOON, eventually, on_both, text,
};

on_both!(
    a_burst_beyond_the_memory_arrives_when_the_receiver_keeps_up,
    a_failed_delivery_is_retried_with_the_same_event,
    a_hanging_receiver_does_not_delay_the_others,
    an_account_with_many_hanging_webhooks_does_not_delay_another,
    a_redirect_is_a_failure_and_is_not_followed,
    a_server_without_file_descriptors_blames_no_webhook,
    a_webhook_deleted_between_attempts_gets_no_retry,
    no_request_is_sent_after_the_last_retry,
    a_failed_delivery_is_retried_after_a_restart,
);

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
        Some(only_webhook(client, &bob)).filter(|shown| shown["last_success_at"].is_string())
    });
    assert!(text(&shown["last_failure"], "at") < text(&shown, "last_success_at"));
    assert!(shown["last_failure"]["error"].is_string());
}

/// The first retry of a counted attempt would follow after an hour.
fn a_server_without_file_descriptors_blames_no_webhook(database: &Database) {
    let server = database.serve_with(&["--webhook-retry-schedule", "1h"]);
    let (client, receiver) = (server.client(), Receiver::start());
    let (alice, bob) = database.busy_pair(client);
    client.register(&bob, &receiver.url);
    // No descriptor below this limit is free. The client uses its open connection.
    server.limit_open_files(3);
    client.send(&alice, &bob.key, "x").ok();
    eventually("the log names the cause", SOON, || {
        server.log().contains("Too many open files").then_some(())
    });
    let shown = only_webhook(client, &bob);
    assert!(shown["last_failure"].is_null(), "{shown}");
    let webhook = json!({"webhook_id": shown["webhook_id"]});
    let tested = client.act(&bob, "/v1/webhooks/test", &webhook).ok();
    assert!(text(&tested, "error_detail").contains("this node"), "{tested}");
    server.limit_open_files(1024);
    receiver.await_requests(1);
    let attempts = eventually("the attempt is logged", SOON, || {
        let log = client.act(&bob, "/v1/webhooks/deliveries", &webhook).ok();
        let attempts = log["deliveries"].as_array().unwrap();
        let is_over = attempts.iter().all(|attempt| attempt["outcome"] != "pending");
        (is_over && !attempts.is_empty()).then(|| attempts.clone())
    });
    assert_eq!((attempts.len(), &attempts[0]["attempt"]), (1, &json!(1)), "{attempts:?}");
}

fn no_request_is_sent_after_the_last_retry(database: &Database) {
    let server = database.serve_with(&["--webhook-retry-schedule", "10ms,10ms"]);
    let client = server.client();
    let (failing, healthy) = (Receiver::reacting(|_| Reaction::Status(500)), Receiver::start());
    let (alice, bob) = (client.new_identity(), client.new_identity());
    client.register(&bob, &failing.url);
    client.send(&alice, &bob.key, "x").ok();
    let last = failing.await_requests(3)[2].clone();
    // Other deliveries are still swept after the last retry. Two of them are needed, since the sweep has no
    // defined order.
    let carol = client.new_identity();
    let gates = Receiver::reacting(|nth| Reaction::Status(if nth < 2 { 500 } else { 200 }));
    client.register(&carol, &gates.url);
    client.register(&carol, &healthy.url);
    client.send(&alice, &carol.key, "x").ok();
    gates.await_requests(3);
    let requests = failing.requests();
    assert_eq!(requests.len(), 3);
    assert_eq!(requests[2].id(), last.id());
}

fn a_redirect_is_a_failure_and_is_not_followed(database: &Database) {
    let server = database.serve_with(&["--webhook-retry-schedule", "10ms,10ms"]);
    let client = server.client();
    let elsewhere = Receiver::start();
    let there = elsewhere.url.clone();
    let receiver = Receiver::reacting(move |_| Reaction::Redirect(there.clone()));
    let (alice, bob) = (client.new_identity(), client.new_identity());
    client.register(&bob, &receiver.url);
    client.send(&alice, &bob.key, "x").ok();
    receiver.await_requests(3);
    assert!(elsewhere.requests().is_empty());
    assert!(only_webhook(client, &bob)["last_success_at"].is_null());
}

fn a_burst_beyond_the_memory_arrives_when_the_receiver_keeps_up(database: &Database) {
    let flags = ["--webhook-queue=64", "--webhook-timeout=1m", "--webhook-lease=2m"];
    let server = database.serve_with(&flags);
    let client = server.client();
    let receiver = Receiver::reacting(|_| Reaction::Hang);
    let (alice, bob) = database.busy_pair(client);
    client.register(&bob, &receiver.url);
    for _ in 0..300 {
        client.send(&alice, &bob.key, "x").ok();
    }
    receiver.go_on();
    // No event waits for the end of a lease.
    receiver.await_requests_within(300, Duration::from_secs(30));
}

fn a_hanging_receiver_does_not_delay_the_others(database: &Database) {
    let server = database.serve_with(&["--webhook-in-flight", "16"]);
    let client = server.client();
    let (hanging, healthy) = (Receiver::reacting(|_| Reaction::Hang), Receiver::start());
    let (alice, bob) = (client.new_identity(), client.new_identity());
    client.register(&bob, &hanging.url);
    client.register(&bob, &healthy.url);
    let send = |count: usize| {
        for _ in 0..count {
            // The limit is ten messages a second.
            eventually("the message is accepted", SOON, || {
                (client.send(&alice, &bob.key, "x").status == 200).then_some(())
            });
        }
    };
    send(1);
    hanging.await_requests(1);
    send(9);
    // A receiver may take 15 s, so these deliveries did not wait for the hanging receiver.
    healthy.await_requests_within(10, Duration::from_secs(10));
    assert!(hanging.requests().len() <= 8, "too many requests in flight to one receiver");
    hanging.go_on();
    hanging.await_requests(10);
}

fn an_account_with_many_hanging_webhooks_does_not_delay_another(database: &Database) {
    let flags = ["--webhook-in-flight=32", "--webhook-timeout=1m", "--webhook-lease=2m"];
    let server = database.serve_with(&flags);
    let client = server.client();
    let webhooks = 48;
    // Each webhook responds once, so its health is good.
    let hanging =
        Receiver::reacting(
            move |nth| {
                if nth < webhooks { Reaction::Status(204) } else { Reaction::Hang }
            },
        );
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
    let client = server.client();
    let failing = Receiver::reacting(|_| Reaction::Status(500));
    let other = Receiver::reacting(|nth| Reaction::Status(if nth == 0 { 500 } else { 200 }));
    let (alice, bob) = (client.new_identity(), client.new_identity());
    let id = text(&client.register(&bob, &failing.url), "webhook_id");
    client.register(&bob, &other.url);
    client.send(&alice, &bob.key, "x").ok();
    failing.await_requests(1);
    client.manage(&bob, &json!({"action": "delete", "webhook_id": id})).ok();
    other.await_requests(2);
    assert_eq!(failing.requests().len(), 1);
}

fn a_failed_delivery_is_retried_after_a_restart(database: &Database) {
    let server = database.serve_with(&["--webhook-retry-schedule", "1500ms"]);
    let receiver = Receiver::reacting(|nth| Reaction::Status(if nth == 0 { 500 } else { 200 }));
    let (alice, bob) = (server.client().new_identity(), server.client().new_identity());
    let secret = text(&server.client().register(&bob, &receiver.url), "secret");
    server.client().send(&alice, &bob.key, "x").ok();
    receiver.await_requests(1);
    server.stop();
    let _server = database.serve();
    let requests = receiver.await_requests(2);
    requests[1].verify(&secret);
    assert_eq!(requests[0].id(), requests[1].id());
}

fn only_webhook(client: &Client, identity: &Identity) -> Value {
    let mut listed = client.manage(identity, &json!({"action": "list"})).ok();
    let webhooks = listed["webhooks"].as_array_mut().unwrap();
    assert_eq!(webhooks.len(), 1);
    webhooks.remove(0)
}
