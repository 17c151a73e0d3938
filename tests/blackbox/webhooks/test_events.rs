//! Tests of `webhook.test` events: one signed request on demand, without retries and without effect on the webhook's
//! state.

use serde_json::{Value, json};

use crate::support::{Client, Database, Identity, Reaction, Receiver, Server, on_both, text};

on_both!(
    a_failed_test_shows_the_response_and_changes_nothing,
    a_test_is_a_signed_event_and_returns_the_attempt,
    only_the_owner_can_test_a_webhook,
    tests_are_limited_per_account,
    only_an_admitted_test_counts_against_the_limit_of_the_account,
);

fn a_test_is_a_signed_event_and_returns_the_attempt(database: &Database) {
    let server = database.serve();
    let (client, receiver) = (server.client(), Receiver::start());
    let bob = client.new_identity();
    let webhook = client.register(&bob, &receiver.url);
    let tested = test(client, &bob, &webhook);
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
    assert_eq!(deliveries(client, &bob, &webhook), json!([]));
    // The action of the shared path does the same.
    let body = json!({"action": "test", "webhook_id": webhook["webhook_id"]});
    let again = client.manage(&bob, &body).ok();
    assert_ne!(again["event_id"], tested["event_id"]);
    assert_eq!(receiver.await_requests(2)[1].id(), text(&again, "event_id"));
}

fn a_failed_test_shows_the_response_and_changes_nothing(database: &Database) {
    let server = database.serve_with(&["--webhook-retry-schedule", "10ms"]);
    let client = server.client();
    let receiver = Receiver::reacting(|_| Reaction::Exactly("410 Gone".into(), b"moved".to_vec()));
    let bob = client.new_identity();
    let webhook = client.register(&bob, &receiver.url);
    let tested = test(client, &bob, &webhook);
    assert_eq!((&tested["outcome"], &tested["error"]), (&json!("failed"), &json!("http_status")));
    assert_eq!((&tested["status_code"], &tested["response"]), (&json!(410), &json!("moved")));
    let shown = &client.post("/v1/webhooks/list").by(&bob).response().ok()["webhooks"][0];
    assert_eq!((&shown["status"], &shown["last_failure"]), (&json!("enabled"), &Value::Null));
    assert_eq!(deliveries(client, &bob, &webhook), json!([]));
    // A disabled webhook can be tested too.
    client.send(&bob, &bob.key, "x").ok();
    receiver.await_requests(2);
    assert_eq!(test(client, &bob, &webhook)["status_code"], 410);
    assert_eq!(receiver.requests().len(), 3);
}

fn only_the_owner_can_test_a_webhook(database: &Database) {
    let server = database.serve();
    let (client, receiver) = (server.client(), Receiver::start());
    let (bob, eve) = (client.new_identity(), client.new_identity());
    let webhook = client.register(&bob, &receiver.url);
    for identity in [&eve, &client.sibling(&bob)] {
        let response = client.act(identity, "/v1/webhooks/test", &members(&webhook));
        response.refused(404, "WEBHOOK_NOT_FOUND");
    }
    let stranger = Identity { token: eve.token.clone(), ..bob };
    let response = client.act(&stranger, "/v1/webhooks/test", &members(&webhook));
    response.refused(401, "UNAUTHORIZED");
    assert_eq!(receiver.requests().len(), 0);
}

fn tests_are_limited_per_account(database: &Database) {
    let server = database.serve_with(&["--webhook-tests-per-minute=2"]);
    let (client, receiver) = (server.client(), Receiver::start());
    let (alice, bob) = (client.new_identity(), client.new_identity());
    let webhook = client.register(&bob, &receiver.url);
    let refused = (0..5).find_map(|_| {
        let response = client.act(&bob, "/v1/webhooks/test", &members(&webhook));
        (response.status == 429).then_some(response)
    });
    let problem =
        refused.expect("five tests within two minutes").refused(429, "RATE_LIMIT_EXCEEDED");
    assert!(text(&problem, "detail").contains("2 times a minute"));
    client.act(&bob, "/v1/webhooks/list", &json!({})).ok();
    let other = client.register(&alice, &receiver.url);
    test(client, &alice, &other);
}

fn only_an_admitted_test_counts_against_the_limit_of_the_account(database: &Database) {
    let server = database.serve_with(&["--webhook-tests-per-minute=1"]);
    let (client, receiver) = (server.client(), Receiver::start());
    let bob = client.new_identity();
    let (inactive, limited) = (client.sibling(&bob), client.sibling(&bob));
    let webhook = client.register(&bob, &receiver.url);
    let unknown = json!({"webhook_id": "wh_00000000000000000000000000"});
    database.operate(&["key", "deactivate", &inactive.key]);
    database.set_enterprise(&limited.key, [0, 1000, 1000, 10]);
    for _ in 0..2 {
        client.act(&bob, "/v1/webhooks/test", &unknown).refused(404, "WEBHOOK_NOT_FOUND");
        client.act(&inactive, "/v1/webhooks/test", &unknown).refused(403, "KEY_INACTIVE");
        let refused = client.act(&limited, "/v1/webhooks/test", &unknown);
        let problem = refused.refused(429, "RATE_LIMIT_EXCEEDED");
        assert!(!text(&problem, "detail").contains("account"), "{problem}");
    }
    test(client, &bob, &webhook);
}

#[test]
fn a_test_never_reaches_a_private_address() {
    let database = Database::embedded();
    let receiver = Receiver::start();
    let server = database.serve();
    let bob = server.client().new_identity();
    let webhook = server.client().register(&bob, &receiver.url);
    drop(server);
    // Without --dev, loopback is as forbidden as any private address.
    let server = Server::start(database.command(&[]));
    let tested = test(server.client(), &bob, &webhook);
    assert_eq!(
        (&tested["outcome"], &tested["error"]),
        (&json!("failed"), &json!("blocked_address"))
    );
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
