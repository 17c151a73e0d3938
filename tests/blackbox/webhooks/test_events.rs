//! Tests of `webhook.test` events: one signed request on demand, without retries and without effect on the webhook's
//! state.

use serde_json::{Value, json};

use crate::support::{
    Client, Database, Identity, Reaction, Receiver, Server, has, on_both, on_embedded, text,
};

on_both!(
    a_failed_test_shows_the_response_and_changes_nothing,
    a_test_is_a_signed_event_and_returns_the_attempt,
);
on_embedded!(
    tests_are_limited_per_account,
    only_an_admitted_test_counts_against_the_limit_of_the_account,
    a_refused_test_does_not_count_against_the_plan,
);

fn a_test_is_a_signed_event_and_returns_the_attempt(database: &Database) {
    let (server, receiver) = (database.serve(), Receiver::start());
    let bob = server.new_identity();
    let webhook = server.register(&bob, &receiver.url);
    let tested = test(&server, &bob, &webhook);
    let id = text(&tested, "event_id");
    assert!(id.starts_with("evt_"), "{id}");
    assert_eq!(tested["webhook_id"], webhook["webhook_id"]);
    assert_eq!((&tested["outcome"], &tested["error"]), (&json!("succeeded"), &Value::Null));
    assert!(tested["status_code"].as_u64().is_some_and(|status| (200..300).contains(&status)));
    assert!(tested["duration_ms"].is_u64());
    let request = receiver.await_requests(1).remove(0);
    request.verify(&text(&webhook, "secret"));
    assert_eq!(request.id(), id);
    let payload = request.json();
    let timestamp = &payload["metadata"]["timestamp"];
    assert!(timestamp.as_str().is_some_and(|time| time.ends_with('Z')));
    let expected = json!({
        "event": "webhook.test", "event_id": id, "metadata": {"timestamp": timestamp},
    });
    assert_eq!(payload, expected);
    assert_eq!(deliveries(&server, &bob, &webhook), json!([]));
    // The action of the shared path does the same.
    let body = json!({"action": "test", "webhook_id": webhook["webhook_id"]});
    let again = server.manage(&bob, &body).ok();
    assert_ne!(again["event_id"], tested["event_id"]);
    assert_eq!(receiver.await_requests(2)[1].id(), text(&again, "event_id"));
}

fn a_failed_test_shows_the_response_and_changes_nothing(database: &Database) {
    let server = database.serve_with(&["--webhook-retry-schedule", "10ms"]);
    let receiver = Receiver::reacting(|_| Reaction::Exactly("410 Gone".into(), b"moved".to_vec()));
    let bob = server.new_identity();
    let webhook = server.register(&bob, &receiver.url);
    let tested = test(&server, &bob, &webhook);
    assert_eq!((&tested["outcome"], &tested["error"]), (&json!("failed"), &json!("http_status")));
    assert_eq!((&tested["status_code"], &tested["response"]), (&json!(410), &json!("moved")));
    let shown = &server.post("/v1/webhooks/list").by(&bob).response().ok()["webhooks"][0];
    assert_eq!((&shown["status"], &shown["last_failure"]), (&json!("enabled"), &Value::Null));
    assert_eq!(deliveries(&server, &bob, &webhook), json!([]));
    // A disabled webhook can be tested too.
    server.send(&bob, &bob.key, "x").ok();
    receiver.await_requests(2);
    assert_eq!(test(&server, &bob, &webhook)["status_code"], 410);
    assert_eq!(receiver.requests().len(), 3);
}

fn tests_are_limited_per_account(database: &Database) {
    let (server, receiver) =
        (database.serve_with(&["--webhook-tests-per-minute=2"]), Receiver::start());
    let (alice, bob) = (server.new_identity(), server.new_identity());
    let webhook = server.register(&bob, &receiver.url);
    let refused = (0..5).find_map(|_| {
        let response = server.act(&bob, "/v1/webhooks/test", &members(&webhook));
        (response.status == 429).then_some(response)
    });
    let problem =
        refused.expect("five tests within two minutes").refused(429, "RATE_LIMIT_EXCEEDED");
    assert!(text(&problem, "detail").contains("2 times a minute"));
    server.act(&bob, "/v1/webhooks/list", &json!({})).ok();
    let other = server.register(&alice, &receiver.url);
    test(&server, &alice, &other);
}

fn only_an_admitted_test_counts_against_the_limit_of_the_account(database: &Database) {
    let (server, receiver) =
        (database.serve_with(&["--webhook-tests-per-minute=1"]), Receiver::start());
    let bob = server.new_identity();
    let (inactive, limited) = (server.sibling(&bob), server.sibling(&bob));
    let webhook = server.register(&bob, &receiver.url);
    let unknown = json!({"webhook_id": "wh_00000000000000000000000000"});
    database.operate(&["key", "deactivate", &inactive.key]);
    database.set_enterprise(&limited.key, [0, 1000, 1000, 10]);
    for _ in 0..2 {
        server.act(&bob, "/v1/webhooks/test", &unknown).refused(404, "WEBHOOK_NOT_FOUND");
        server.act(&inactive, "/v1/webhooks/test", &unknown).refused(403, "KEY_INACTIVE");
        let refused = server.act(&limited, "/v1/webhooks/test", &unknown);
        let problem = refused.refused(429, "RATE_LIMIT_EXCEEDED");
        assert!(!text(&problem, "detail").contains("account"), "{problem}");
    }
    test(&server, &bob, &webhook);
}

fn a_refused_test_does_not_count_against_the_plan(database: &Database) {
    let (server, receiver) =
        (database.serve_with(&["--webhook-tests-per-minute=1"]), Receiver::start());
    let bob = server.new_identity();
    let webhook = server.register(&bob, &receiver.url);
    let used = || server.status(&bob).ok()["usage"]["day"]["used"].as_u64().unwrap();
    let before = used();
    let mut counted = 0;
    for _ in 0..3 {
        let response = server.act(&bob, "/v1/webhooks/test", &members(&webhook));
        counted += u64::from(response.status == 200);
    }
    assert!(counted < 3, "the limit of the account refuses a test");
    assert_eq!(used() - before, counted + 1, "the status counts too");
}

#[test]
fn a_test_never_reaches_a_private_address() {
    let database = Database::embedded();
    let receiver = Receiver::start();
    let server = database.serve();
    let bob = server.new_identity();
    let webhook = server.register(&bob, &receiver.url);
    drop(server);
    // Without --dev, loopback is as forbidden as any private address.
    let server = Server::start(database.command(&[]));
    let tested = test(&server, &bob, &webhook);
    has(&tested, &json!({"outcome": "failed", "error": "blocked_address"}));
    assert_eq!((&tested["status_code"], &tested["response"]), (&Value::Null, &Value::Null));
    assert_eq!(receiver.requests().len(), 0);
}

#[track_caller]
fn test(client: &Client, identity: &Identity, webhook: &Value) -> Value {
    client.act(identity, "/v1/webhooks/test", &members(webhook)).ok()
}

fn deliveries(client: &Client, identity: &Identity, webhook: &Value) -> Value {
    client.act(identity, "/v1/webhooks/deliveries", &members(webhook)).ok()["deliveries"].clone()
}

fn members(webhook: &Value) -> Value {
    json!({"webhook_id": webhook["webhook_id"]})
}
