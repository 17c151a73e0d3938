//! Tests of the event `usage.threshold`, which the owner of a key gets before the limits refuse requests.

use serde_json::json;

use crate::support::{Database, Receiver, WebhookRequest, on_both, text};

on_both!(each_threshold_gives_one_event_in_its_window, a_webhook_without_the_event_gets_none,);

const V1_1: &[&str] = &["--events", "v1.1"];

fn agree(database: &Database, key: &str, per_day: &str, per_month: &str) {
    let limits = ["--per-day", per_day, "--per-month", per_month, "--keep-limits"];
    database.operate(
        &[&["plan", "set", key, "enterprise", "--per-minute", "1000"], &limits[..]].concat(),
    );
}

/// Waits for `count` requests, and returns the window, threshold, used number and limit of each, sorted.
fn reached(informed: &Receiver, count: usize) -> Vec<(String, u64, u64, u64)> {
    let read = |request: &WebhookRequest| {
        let body = request.json();
        let number = |name: &str| body[name].as_u64().unwrap();
        (text(&body, "window"), number("threshold"), number("used"), number("limit"))
    };
    let mut reached: Vec<_> = informed.await_requests(count).iter().map(read).collect();
    reached.sort();
    reached
}

fn each_threshold_gives_one_event_in_its_window(database: &Database) {
    let server = database.serve_with(V1_1);
    let (alice, bob) = (server.new_identity(), server.new_identity());
    let informed = Receiver::start();
    let hook = server.register_for(&alice, &informed.url, &["usage.threshold"]);
    agree(database, &alice.key, "1000", "5");
    for _ in 0..4 {
        server.send(&alice, &bob.key, "x").ok();
    }
    let request = informed.await_requests(1).remove(0);
    request.verify(&text(&hook, "secret"));
    let body = request.json();
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
        server.act(&alice, "/v1/did/status", &json!({})).ok()["usage"]["month"]["resets_at"],
        body["resets_at"]
    );
    // A larger limit is no second cause for 80 %.
    agree(database, &alice.key, "1000", "10");
    for _ in 0..6 {
        server.send(&alice, &bob.key, "x").ok();
    }
    server.send(&alice, &bob.key, "x").refused(429, "MONTHLY_LIMIT_EXCEEDED");
    let month = |threshold, used, limit| ("month".to_owned(), threshold, used, limit);
    assert_eq!(reached(&informed, 2), [month(80, 4, 5), month(100, 10, 10)]);
    // Requests that send nothing count against the day.
    let used =
        server.act(&alice, "/v1/did/status", &json!({})).ok()["usage"]["day"]["used"].clone();
    agree(database, &alice.key, &(used.as_u64().unwrap() + 2).to_string(), "100");
    server.act(&alice, "/v1/did/status", &json!({})).ok();
    server.act(&alice, "/v1/did/status", &json!({})).ok();
    server.act(&alice, "/v1/did/status", &json!({})).refused(429, "RATE_LIMIT_EXCEEDED");
    let all: Vec<_> = reached(&informed, 4).into_iter().map(|it| (it.0, it.1)).collect();
    let wanted = [("day", 80), ("day", 100), ("month", 80), ("month", 100)];
    assert_eq!(all, wanted.map(|(window, threshold)| (window.to_owned(), threshold)));
}

fn a_webhook_without_the_event_gets_none(database: &Database) {
    let server = database.serve_with(V1_1);
    let (alice, bob) = (server.new_identity(), server.new_identity());
    let (other, informed) = (Receiver::start(), Receiver::start());
    server.register_for(&alice, &other.url, &["envelope.received", "envelope.bounced"]);
    server.register_for(&bob, &informed.url, &["usage.threshold"]);
    agree(database, &alice.key, "1000", "1");
    agree(database, &bob.key, "1000", "1");
    server.send(&alice, &bob.key, "x").ok();
    server.send(&bob, &alice.key, "x").ok();
    assert_eq!(reached(&informed, 2).len(), 2);
    let events = other.await_requests(1);
    assert_eq!(events[0].json()["event"], "envelope.received");
    assert_eq!(events.len(), 1);
}
