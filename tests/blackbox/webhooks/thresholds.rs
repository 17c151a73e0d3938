//! Tests of the event `usage.threshold`, which the owner of a key gets before the limits refuse requests.

use serde_json::{Value, json};

use crate::support::{Client, Database, Identity, Receiver, WebhookRequest, on_both, text};

on_both!(
    each_threshold_gives_one_event_in_its_window,
    a_smaller_limit_reaches_a_threshold,
    a_webhook_without_the_event_gets_none,
);

const V1_1: &[&str] = &["--events", "v1.1"];

fn register(client: &Client, identity: &Identity, url: &str, events: &[&str]) -> Value {
    let body = json!({"url": url, "events": events});
    client.act(identity, "/v1/webhooks/register", &body).ok()
}

fn agree(database: &Database, key: &str, per_day: &str, per_month: &str) {
    let limits = ["--per-day", per_day, "--per-month", per_month, "--keep-limits"];
    database.operate(
        &[&["plan", "set", key, "enterprise", "--per-minute", "1000"], &limits[..]].concat(),
    );
}

/// Waits for `count` requests, and returns the window, threshold, used number and limit of each, sorted.
fn reached(informed: &Receiver, count: usize) -> Vec<(String, u64, u64, u64)> {
    let read = |request: &WebhookRequest| {
        let body: Value = serde_json::from_slice(&request.body).unwrap();
        let number = |name: &str| body[name].as_u64().unwrap();
        (text(&body, "window"), number("threshold"), number("used"), number("limit"))
    };
    let mut reached: Vec<_> = informed.await_requests(count).iter().map(read).collect();
    reached.sort();
    reached
}

fn each_threshold_gives_one_event_in_its_window(database: &Database) {
    let server = database.serve_with(V1_1);
    let client = server.client();
    let (alice, bob) = (client.new_identity(), client.new_identity());
    let informed = Receiver::start();
    let hook = register(client, &alice, &informed.url, &["usage.threshold"]);
    agree(database, &alice.key, "1000", "5");
    for _ in 0..4 {
        client.send(&alice, &bob.key, "x").ok();
    }
    let request = informed.await_requests(1).remove(0);
    request.verify(&text(&hook, "secret"));
    let body: Value = serde_json::from_slice(&request.body).unwrap();
    assert_eq!(
        body,
        json!({
            "event": "usage.threshold",
            "event_id": request.id(),
            "api_key_id": alice.key,
            "window": "month",
            "threshold": 80,
            "used": 4,
            "limit": 5,
            "resets_at": body["resets_at"],
            "metadata": {"timestamp": body["metadata"]["timestamp"]},
        })
    );
    assert_eq!(
        client.act(&alice, "/v1/did/status", &json!({})).ok()["usage"]["month"]["resets_at"],
        body["resets_at"]
    );
    // A larger limit is no second cause for 80 %.
    agree(database, &alice.key, "1000", "10");
    for _ in 0..6 {
        client.send(&alice, &bob.key, "x").ok();
    }
    client.send(&alice, &bob.key, "x").refused(429, "MONTHLY_LIMIT_EXCEEDED");
    let month = |threshold, used, limit| ("month".to_owned(), threshold, used, limit);
    assert_eq!(reached(&informed, 2), [month(80, 4, 5), month(100, 10, 10)]);
    // Requests that send nothing count against the day.
    let used =
        client.act(&alice, "/v1/did/status", &json!({})).ok()["usage"]["day"]["used"].clone();
    agree(database, &alice.key, &(used.as_u64().unwrap() + 2).to_string(), "100");
    client.act(&alice, "/v1/did/status", &json!({})).ok();
    client.act(&alice, "/v1/did/status", &json!({})).ok();
    client.act(&alice, "/v1/did/status", &json!({})).refused(429, "RATE_LIMIT_EXCEEDED");
    let all: Vec<_> = reached(&informed, 4).into_iter().map(|it| (it.0, it.1)).collect();
    let wanted = [("day", 80), ("day", 100), ("month", 80), ("month", 100)];
    assert_eq!(all, wanted.map(|(window, threshold)| (window.to_owned(), threshold)));
}

fn a_smaller_limit_reaches_a_threshold(database: &Database) {
    let server = database.serve_with(V1_1);
    let client = server.client();
    let (alice, bob) = (client.new_identity(), client.new_identity());
    let informed = Receiver::start();
    register(client, &alice, &informed.url, &["usage.threshold"]);
    for _ in 0..4 {
        client.send(&alice, &bob.key, "x").ok();
    }
    agree(database, &alice.key, "1000", "4");
    let month = |threshold| ("month".to_owned(), threshold, 4, 4);
    assert_eq!(reached(&informed, 2), [month(80), month(100)]);
}

fn a_webhook_without_the_event_gets_none(database: &Database) {
    let server = database.serve_with(V1_1);
    let client = server.client();
    let (alice, bob) = (client.new_identity(), client.new_identity());
    let (other, informed) = (Receiver::start(), Receiver::start());
    register(client, &alice, &other.url, &["envelope.received", "envelope.bounced"]);
    register(client, &bob, &informed.url, &["usage.threshold"]);
    agree(database, &alice.key, "1000", "1");
    agree(database, &bob.key, "1000", "1");
    client.send(&alice, &bob.key, "x").ok();
    client.send(&bob, &alice.key, "x").ok();
    assert_eq!(reached(&informed, 2).len(), 2);
    let events: Vec<Value> = other
        .await_requests(1)
        .iter()
        .map(|it| serde_json::from_slice(&it.body).unwrap())
        .collect();
    assert_eq!(events[0]["event"], "envelope.received");
    assert_eq!(events.len(), 1);
}
