//! Tests of the limits of webhook requests per destination host, and of forbidden networks.

use std::time::Duration;

use serde_json::json;

use crate::support::{
    Client, Database, Identity, Reaction, Receiver, eventually, on_embedded, text,
    within_one_minute,
};

on_embedded!(
    requests_in_flight_to_a_host_are_bounded_over_all_webhooks,
    requests_per_minute_to_a_host_are_bounded_over_all_webhooks,
    a_forbidden_network_gets_no_requests,
);

fn requests_in_flight_to_a_host_are_bounded_over_all_webhooks(database: &Database) {
    let server = database.serve_with(&["--webhook-in-flight-per-host", "2"]);
    let slow = Receiver::reacting(|_| Reaction::Hang);
    let sender = server.new_identity();
    send_to_each(&server, &sender, &recipients(&server, 4, &slow.url));
    send_to_other_host(&server, &sender);
    assert_eq!(slow.await_requests(2).len(), 2);
    slow.go_on();
    slow.await_requests(4);
}

fn requests_per_minute_to_a_host_are_bounded_over_all_webhooks(database: &Database) {
    let server = database.serve_with(&["--webhook-per-minute-per-host", "3"]);
    let receiver = Receiver::start();
    let sender = server.new_identity();
    let recipients = recipients(&server, 5, &receiver.url);
    let count = within_one_minute(|| {
        let before = receiver.requests().len();
        send_to_each(&server, &sender, &recipients);
        send_to_other_host(&server, &sender);
        receiver.await_requests(before + 3).len() - before
    });
    assert_eq!(count, 3);
}

fn a_forbidden_network_gets_no_requests(database: &Database) {
    let receiver = Receiver::start();
    let server = database.serve();
    let bob = server.new_identity();
    server.register(&bob, &receiver.url);
    server.stop();

    let flags = ["--webhook-deny", "127.0.0.0/8", "--webhook-retry-schedule", "10ms"];
    let server = database.serve_with(&flags);
    let body = json!({"url": receiver.url, "events": ["envelope.received"]});
    let refused = server.act(&bob, "/v1/webhooks/register", &body).refused(400, "INVALID_FIELD");
    assert_eq!(refused["field"], "url");
    server.send(&bob, &bob.key, "x").ok();
    let failure = eventually("a failed attempt", Duration::from_secs(30), || {
        let shown = server.manage(&bob, &json!({"action": "list"})).ok();
        Some(shown["webhooks"][0]["last_failure"].clone()).filter(|failure| !failure.is_null())
    });
    assert_eq!(text(&failure, "error"), "blocked_address");
    assert!(receiver.requests().is_empty());
}

/// Activates keys, each with a webhook of its own.
fn recipients(client: &Client, count: usize, url: &str) -> Vec<Identity> {
    let recipient = |_| {
        let identity = client.new_identity();
        client.register(&identity, url);
        identity
    };
    (0..count).map(recipient).collect()
}

fn send_to_each(client: &Client, sender: &Identity, recipients: &[Identity]) {
    for recipient in recipients {
        client.send(sender, &recipient.key, "x").ok();
    }
}

/// Sends to a receiver at another host, and waits for the event. The service has then processed all earlier events too.
fn send_to_other_host(client: &Client, sender: &Identity) {
    let receiver = Receiver::start();
    let url = receiver.url.replace("127.0.0.1", "localhost");
    send_to_each(client, sender, &recipients(client, 1, &url));
    receiver.await_requests(1);
}
