//! Tests of changing a webhook: its URL, its events and its description, and of pausing and resuming it.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::{
    Client, Database, Identity, Reaction, Receiver, WebhookRequest, eventually, has, on_both,
    on_embedded, text,
};

on_both!(
    an_update_changes_only_what_it_names,
    retries_go_to_the_new_url,
    queued_deliveries_of_all_nodes_go_to_the_new_url_within_two_seconds,
    a_paused_webhook_gets_nothing_until_it_is_resumed,
    pausing_and_disabling_are_independent,
    the_first_webhook_for_received_envelopes_can_come_from_an_update,
);
on_embedded!(an_update_is_refused_in_the_order_of_the_contract);

fn update(client: &Client, identity: &Identity, webhook: &str, changes: &Value) -> Value {
    let mut body = changes.clone();
    body["webhook_id"] = json!(webhook);
    client.act(identity, "/v1/webhooks/update", &body).ok()
}

fn an_update_changes_only_what_it_names(database: &Database) {
    let (server, receiver) = (database.serve_with(&["--events", "v1.1"]), Receiver::start());
    let (alice, bob) = database.busy_pair(&server);
    let body = json!({
        "url": receiver.url, "events": ["envelope.received"], "description": "orders",
    });
    let registered = server.act(&bob, "/v1/webhooks/register", &body).ok();
    has(&registered, &json!({"description": "orders", "warning": null}));
    let id = text(&registered, "webhook_id");
    server.send(&alice, &bob.key, "x").ok();
    receiver.await_requests(1);
    let before = eventually("the success is recorded", Duration::from_secs(20), || {
        Some(server.only_webhook(&bob)).filter(|webhook| !webhook["last_success_at"].is_null())
    });
    assert_eq!((&before["description"], &before["paused"]), (&json!("orders"), &json!(false)));

    let moved = format!("{}/moved", receiver.url);
    for (name, value) in [
        ("url", json!(moved)),
        ("events", json!(["envelope.received", "usage.threshold"])),
        ("description", json!("ö".repeat(200))),
        ("paused", json!(true)),
        ("paused", json!(false)),
        ("description", Value::Null),
    ] {
        let mut expected = server.only_webhook(&bob);
        let answer = update(&server, &bob, &id, &json!({name: value}));
        expected[name] = value;
        assert_eq!(server.only_webhook(&bob), expected);
        expected["warning"] = Value::Null;
        assert_eq!(answer, expected);
    }
    let action = json!({"action": "update", "webhook_id": id, "description": "by action"});
    assert_eq!(server.manage(&bob, &action).ok()["description"], "by action");

    server.send(&alice, &bob.key, "x").ok();
    let request = receiver.await_requests(2).remove(1);
    request.verify(&text(&registered, "secret"));
    assert_eq!(request.path, "/hook/moved");
    let kinds = server.post("/v1/account/activity").token(&bob.token).response().ok();
    assert_eq!(kinds["entries"][0]["kind"], "webhook_updated");
}

fn retries_go_to_the_new_url(database: &Database) {
    let server = database.serve_with(&["--webhook-retry-schedule", "2s,1h"]);
    let (alice, bob) = (server.new_identity(), server.new_identity());
    let (old, new) = (Receiver::reacting(|_| Reaction::Status(500)), Receiver::start());
    let id = text(&server.register(&bob, &old.url), "webhook_id");
    let sent = text(&server.send(&alice, &bob.key, "x").ok(), "envelope_id");
    old.await_requests(1);
    update(&server, &bob, &id, &json!({"url": new.url}));
    assert_eq!(new.await_requests(1)[0].id(), sent);
    assert_eq!(old.requests().len(), 1);
}

/// Sends more messages than a hanging receiver gets at once, through each of the servers, and then changes the URL.
fn queued_deliveries_of_all_nodes_go_to_the_new_url_within_two_seconds(database: &Database) {
    let servers = database.serve_on_every_node();
    let client = servers[0].client();
    let (alice, bob) = database.busy_pair(client);
    let (old, new) = (
        Receiver::reacting(|nth| if nth < 20 { Reaction::Status(204) } else { Reaction::Hang }),
        Receiver::start(),
    );
    let id = text(&client.register(&bob, &old.url), "webhook_id");
    let mut sent = Vec::new();
    for number in 0..120 {
        let client = servers[number % servers.len()].client();
        sent.push(text(&client.send(&alice, &bob.key, "x").ok(), "envelope_id"));
    }
    old.await_requests(21);
    update(client, &bob, &id, &json!({"url": new.url}));
    let answered = Instant::now();
    // The attempts under way end at the old URL. Their ends let queued deliveries start.
    std::thread::sleep(Duration::from_secs(2));
    old.go_on();
    eventually("all events arrive", Duration::from_mins(1), || {
        let arrived: Vec<_> =
            old.requests().iter().chain(&new.requests()).map(WebhookRequest::id).collect();
        sent.iter().all(|id| arrived.contains(id)).then_some(())
    });
    let late = answered + Duration::from_secs(2);
    assert_eq!(old.requests().iter().filter(|request| request.at > late).count(), 0);
}

fn a_paused_webhook_gets_nothing_until_it_is_resumed(database: &Database) {
    let server = database.serve_with(&["--webhook-retry-schedule", "1s,1s"]);
    let (alice, bob) = (server.new_identity(), server.new_identity());
    let receiver = Receiver::reacting(|nth| Reaction::Status(if nth == 0 { 500 } else { 204 }));
    let id = text(&server.register(&bob, &receiver.url), "webhook_id");
    let first = text(&server.send(&alice, &bob.key, "x").ok(), "envelope_id");
    receiver.await_requests(1);
    update(&server, &bob, &id, &json!({"paused": true}));
    let second = text(&server.send(&alice, &bob.key, "x").ok(), "envelope_id");
    let again = json!({"action": "redeliver", "webhook_id": id, "envelope_id": first});
    let problem = server.manage(&bob, &again).refused(400, "INVALID_FIELD");
    assert!(text(&problem, "detail").contains("paused"), "{problem}");
    std::thread::sleep(Duration::from_secs(4));
    assert_eq!(receiver.requests().len(), 1);
    let receipt = json!({"envelope_id": first});
    let receipt = server.act(&alice, "/v1/channel/receipt", &receipt).ok();
    assert_eq!(receipt["state"], "sent");

    update(&server, &bob, &id, &json!({"paused": false}));
    let mut arrived: Vec<_> =
        receiver.await_requests(3).iter().skip(1).map(WebhookRequest::id).collect();
    arrived.sort();
    assert_eq!(arrived, [first, second]);
}

fn pausing_and_disabling_are_independent(database: &Database) {
    let server = database.serve();
    let (alice, bob) = (server.new_identity(), server.new_identity());
    let receiver = Receiver::reacting(|nth| Reaction::Status(if nth == 0 { 410 } else { 204 }));
    let id = text(&server.register(&bob, &receiver.url), "webhook_id");
    server.send(&alice, &bob.key, "x").ok();
    eventually("the webhook is disabled", Duration::from_secs(20), || {
        (server.only_webhook(&bob)["status"] == "disabled").then_some(())
    });
    let paused = update(&server, &bob, &id, &json!({"paused": true}));
    let sent = text(&server.send(&alice, &bob.key, "x").ok(), "envelope_id");
    assert_eq!((&paused["status"], &paused["paused"]), (&json!("disabled"), &json!(true)));
    let enabled = server.manage(&bob, &json!({"action": "enable", "webhook_id": id})).ok();
    assert_eq!((&enabled["paused"], &enabled["due_now"]), (&json!(true), &json!(0)));
    std::thread::sleep(Duration::from_secs(2));
    assert_eq!(receiver.requests().len(), 1);
    update(&server, &bob, &id, &json!({"paused": false}));
    assert_eq!(receiver.await_requests(2)[1].id(), sent);
}

fn the_first_webhook_for_received_envelopes_can_come_from_an_update(database: &Database) {
    let server = database.serve_with(&["--events", "v1.1"]);
    let (alice, bob) = (server.new_identity(), server.new_identity());
    let receiver = Receiver::start();
    let body = json!({"url": receiver.url, "events": ["usage.threshold"]});
    let id = text(&server.act(&bob, "/v1/webhooks/register", &body).ok(), "webhook_id");
    let sent = text(&server.send(&alice, &bob.key, "x").ok(), "envelope_id");
    update(&server, &bob, &id, &json!({"events": ["envelope.received"]}));
    assert_eq!(receiver.await_requests(1)[0].id(), sent);
    update(&server, &bob, &id, &json!({"events": ["usage.threshold"]}));
    server.send(&alice, &bob.key, "x").ok();
    assert_eq!(server.status(&bob).ok()["waiting"], 1);
}

fn an_update_is_refused_in_the_order_of_the_contract(database: &Database) {
    let server = database.serve();
    let ((_, bob), receiver) = (database.busy_pair(&server), Receiver::start());
    let id = text(&server.register(&bob, &receiver.url), "webhook_id");
    let before = server.only_webhook(&bob);
    let long = "ö".repeat(201);
    for (body, code, field) in [
        (json!({"url": "x"}), "MISSING_FIELD", "webhook_id"),
        (json!({"webhook_id": id}), "MISSING_FIELD", "url"),
        (json!({"webhook_id": id, "urll": "x"}), "MISSING_FIELD", "url"),
        (json!({"webhook_id": id, "url": null, "paused": null}), "MISSING_FIELD", "url"),
        (json!({"webhook_id": id, "url": ""}), "MISSING_FIELD", "url"),
        (json!({"webhook_id": id, "events": []}), "MISSING_FIELD", "events"),
        (json!({"webhook_id": id, "url": "nowhere", "x": 1}), "INVALID_FIELD", "url"),
        (json!({"webhook_id": id, "url": "https://10.0.0.1/", "x": 1}), "INVALID_FIELD", "url"),
        (json!({"webhook_id": id, "paused": "yes"}), "INVALID_FIELD", "paused"),
        (json!({"webhook_id": id, "events": ["envelope.sent"]}), "INVALID_FIELD", "events"),
        (json!({"webhook_id": id, "description": long}), "INVALID_FIELD", "description"),
        (json!({"webhook_id": id, "description": "a\0b"}), "INVALID_FIELD", "description"),
        (json!({"webhook_id": id, "paused": true, "x": 1}), "INVALID_FIELD", "x"),
    ] {
        let problem = server.act(&bob, "/v1/webhooks/update", &body).refused(400, code);
        assert_eq!(problem["field"], field, "{body}");
        let mut action = body.clone();
        action["action"] = json!("update");
        assert_eq!(server.manage(&bob, &action).refused(400, code)["field"], field, "{body}");
    }
    let register = json!({"url": "nowhere", "events": ["envelope.received"], "x": 1});
    let problem = server.act(&bob, "/v1/webhooks/register", &register);
    assert_eq!(problem.refused(400, "INVALID_FIELD")["field"], "url");
    let other = server.new_identity();
    let foreign = json!({"webhook_id": id, "paused": true});
    server.act(&other, "/v1/webhooks/update", &foreign).refused(404, "WEBHOOK_NOT_FOUND");
    assert_eq!(server.only_webhook(&bob), before);
}
