//! Tests of the events `webhook.failing` and `webhook.disabled`, which inform the other webhooks of an account.

use serde_json::{Value, json};

use crate::support::{Client, Database, Identity, Reaction, Receiver, on_both, text, wait_until};

on_both!(
    the_other_webhooks_of_the_account_hear_of_failures_and_disabling,
    an_operator_disables_with_an_event,
);

const BOTH: &[&str] = &["webhook.failing", "webhook.disabled"];

fn register(client: &Client, identity: &Identity, url: &str, events: &[&str]) -> String {
    let body = json!({"url": url, "events": events, "description": "orders"});
    text(&client.act(identity, "/v1/webhooks/register", &body).ok(), "webhook_id")
}

fn body_of(informed: &Receiver, nth: usize) -> Value {
    let request = informed.await_requests(nth + 1).remove(nth);
    let body = request.json();
    assert_eq!(body["event_id"], request.id());
    body
}

fn the_other_webhooks_of_the_account_hear_of_failures_and_disabling(database: &Database) {
    let server = database.serve_with(&["--events", "v1.1", "--webhook-retry-schedule", "1h"]);
    let (alice, bob) = database.busy_pair(&server);
    let sibling = server.sibling(&bob);
    let failing = Receiver::reacting(|nth| Reaction::Status(if nth < 12 { 500 } else { 410 }));
    let informed = [Receiver::start(), Receiver::start()];
    let everything = [BOTH, &["envelope.received"]].concat();
    let id = register(&server, &bob, &failing.url, &everything);
    register(&server, &bob, &informed[0].url, BOTH);
    register(&server, &sibling, &informed[1].url, BOTH);
    for _ in 0..11 {
        server.send(&alice, &bob.key, "x").ok();
    }
    let failed = || {
        let failures =
            json!({"action": "deliveries", "webhook_id": id, "limit": 100, "state": "failed"});
        server.manage(&bob, &failures).ok()["deliveries"].as_array().unwrap().len()
    };
    wait_until("eleven failures", || failed() == 11);
    database.by_hand("UPDATE webhooks SET failing_since = failing_since - 3600000 WHERE failing_since IS NOT NULL");
    server.send(&alice, &bob.key, "x").ok();
    for informed in &informed {
        let body = body_of(informed, 0);
        let listed = server.manage(&bob, &json!({"action": "list"})).ok()["webhooks"][0].clone();
        assert_eq!(
            body,
            json!({
                "event": "webhook.failing",
                "event_id": body["event_id"],
                "webhook_id": id,
                "api_key_id": bob.key,
                "description": "orders",
                "reason": "all_attempts_failed",
                "since": listed["failing_since"],
                "last_failure": listed["last_failure"],
                "metadata": body["metadata"],
            })
        );
    }
    server.send(&alice, &bob.key, "x").ok();
    for informed in &informed {
        let body = body_of(informed, 1);
        assert_eq!((&body["event"], &body["reason"]), (&json!("webhook.disabled"), &json!("gone")));
        assert_eq!(body["since"], body["metadata"]["timestamp"]);
    }
    assert!(informed.iter().all(|it| it.requests().len() == 2));
    assert_eq!(failing.requests().len(), 13, "a webhook gets no event about itself");
}

fn an_operator_disables_with_an_event(database: &Database) {
    let server = database.serve_with(&["--events", "v1.1"]);
    let (bob, informed) = (server.new_identity(), Receiver::start());
    let id = register(&server, &bob, "http://127.0.0.1:9999/", &["envelope.received"]);
    register(&server, &bob, &informed.url, BOTH);
    database.operate(&["webhook", "disable", &id]);
    let body = body_of(&informed, 0);
    assert_eq!((&body["webhook_id"], &body["reason"]), (&json!(id), &json!("operator")));
    assert_eq!(body["last_failure"], Value::Null);
}
