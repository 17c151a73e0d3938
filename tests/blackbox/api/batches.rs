//! Tests that many messages in one request are checked, limited, counted and stored like single sends.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::support::{
    Client, Database, Identity, Receiver, Response, Server, WebhookRequest, at_once, has, on_both,
    on_embedded, text, within_one_minute,
};

on_both!(
    a_limit_accepts_the_first_messages,
    a_repeated_batch_gets_the_same_results,
    concurrent_repeats_store_each_message_once,
    envelopes_keep_the_order_of_the_messages,
);
on_embedded!(each_message_has_its_own_result);

fn post(client: &Client, from: &Identity, key: Option<&str>, body: &Value) -> Response {
    let request = client.post("/v1/channel/send-batch").by(from).json(body);
    match key {
        Some(key) => request.header("Idempotency-Key", key).response(),
        None => request.response(),
    }
}

fn send(client: &Client, from: &Identity, messages: &Value) -> Vec<Value> {
    results(&post(client, from, None, &json!({"messages": messages})).ok())
}

fn results(response: &Value) -> Vec<Value> {
    response["results"].as_array().unwrap().clone()
}

fn statuses(results: &[Value]) -> Vec<u64> {
    results.iter().map(|result| result["status"].as_u64().unwrap()).collect()
}

/// Returns `count` messages to an identity.
fn messages(to: &Identity, count: usize) -> Value {
    (0..count).map(|n| json!({"to": to.key, "message": n.to_string()})).collect()
}

fn each_message_has_its_own_result(database: &Database) {
    let server = database.serve();
    let (alice, bob) = (server.new_identity(), server.new_identity_with_handle("bob"));
    database.set_enterprise(&alice.key, [1000, 1000, 1000, 1000]);
    let to_bob = |name: &str, value: Value| json!({"to": "bob", "message": "x", name: value});
    let (missing, invalid) = ((400, "MISSING_FIELD"), (400, "INVALID_FIELD"));
    let (raw, large) = ((400, "RAW_DID_REJECTED"), (413, "PAYLOAD_TOO_LARGE"));
    let (no_key, no_envelope) = ((404, "KEY_NOT_FOUND"), (404, "ENVELOPE_NOT_FOUND"));
    let cases = [
        (to_bob("to", json!("ak_01h455vb4pex5vsknk084sn02q")), no_key, "to"),
        (to_bob("to", json!(bob.did)), raw, "to"),
        (json!({"to": "bob"}), missing, "message"),
        (to_bob("message", json!(7)), invalid, "message"),
        (to_bob("thred", json!("a")), invalid, "thred"),
        (to_bob("api_key_id", json!(alice.key)), invalid, "api_key_id"),
        (to_bob("thread", json!("")), invalid, "thread"),
        (to_bob("reply_to", json!("env")), no_envelope, "reply_to"),
        (to_bob("message", json!("x".repeat(262_145))), large, "message"),
        (json!("hello"), invalid, "messages"),
        (Value::Null, invalid, "messages"),
    ];
    let mut batch: Vec<Value> = cases.iter().map(|(message, ..)| message.clone()).collect();
    batch.insert(0, json!({"to": "@Bob", "message": "first", "thread": "A", "type": "text/plain"}));
    batch.push(json!({"to": bob.key, "message": "last"}));
    let results = send(&server, &alice, &json!(batch));
    for ((_, (status, code), field), result) in cases.iter().zip(&results[1..]) {
        has(result, &json!({"status": status, "code": code, "field": field}));
        let members: BTreeSet<_> = result.as_object().unwrap().keys().map(String::as_str).collect();
        assert_eq!(members, BTreeSet::from(["status", "code", "detail", "field"]));
        assert!(!text(result, "detail").is_empty());
    }
    for (result, message) in [(&results[0], "first"), (results.last().unwrap(), "last")] {
        let id = text(result, "envelope_id");
        let single = server.send(&alice, "bob", "x").ok();
        let expected: BTreeSet<_> = single.as_object().unwrap().keys().collect();
        assert_eq!(result.as_object().unwrap().keys().collect::<BTreeSet<_>>(), expected);
        assert_eq!((&result["status"], &result["state"]), (&json!(200), &json!("waiting")));
        assert_eq!(server.open(&bob, &id).ok()["message"], message);
    }
    let opened = server.open(&bob, &text(&results[0], "envelope_id")).ok();
    assert_eq!((&opened["thread"], &opened["type"]), (&json!("A"), &json!("text/plain")));
    let usage = &server.status(&alice).ok()["usage"];
    assert_eq!(usage["month"]["used"], 4);
    assert_eq!(usage["day"]["used"], batch.len() + 3, "each message counts as a request");
}

#[test]
fn a_body_that_is_no_batch_is_refused() {
    let server = Server::shared();
    let alice = server.new_identity();
    for (body, code, field) in [
        (json!({}), "MISSING_FIELD", "messages"),
        (json!({"messages": []}), "MISSING_FIELD", "messages"),
        (json!({"messages": null}), "MISSING_FIELD", "messages"),
        (json!({"messages": {"to": "bob"}}), "INVALID_FIELD", "messages"),
        (json!({"messages": messages(&alice, 101)}), "INVALID_FIELD", "messages"),
        (json!({"messages": messages(&alice, 1), "to": "bob"}), "INVALID_FIELD", "to"),
    ] {
        let refused = post(&server, &alice, None, &body).refused(400, code);
        assert_eq!(refused["field"], field, "{body}");
    }
    assert_eq!(server.status(&alice).ok()["usage"]["day"]["used"], 7);
    let token = server.token_with(&alice, &["read"]);
    let body = json!({"messages": messages(&alice, 1)});
    let request = server.post("/v1/channel/send-batch").token(&token).json(&body);
    request.response().refused(403, "INSUFFICIENT_SCOPE");
}

fn a_limit_accepts_the_first_messages(database: &Database) {
    let server = database.serve();
    let (accepted, status, more) = within_one_minute(|| {
        let alice = server.new_identity();
        database.set_enterprise(&alice.key, [20, 1000, 1000, 1000]);
        send(&server, &alice, &messages(&alice, 13));
        let accepted = post(&server, &alice, None, &json!({"messages": messages(&alice, 11)}));
        let more = post(&server, &alice, None, &json!({"messages": messages(&alice, 1)}));
        (accepted, server.status(&alice), more)
    });
    let results = results(&accepted.ok());
    assert_eq!(statuses(&results), [vec![200; 7], vec![429; 4]].concat());
    assert!(results[7..].iter().all(|result| result["code"] == "RATE_LIMIT_EXCEEDED"));
    assert!(accepted.header("ratelimit").unwrap().contains(r#""minute";r=0"#));
    status.refused(429, "RATE_LIMIT_EXCEEDED");
    more.refused(429, "RATE_LIMIT_EXCEEDED");
}

fn a_repeated_batch_gets_the_same_results(database: &Database) {
    let server = database.serve();
    let (alice, bob) = (server.new_identity(), server.new_identity());
    database.set_enterprise(&alice.key, [1000, 1000, 2, 1000]);
    let body = json!({"messages": [
        {"to": bob.key, "message": "a"},
        {"to": bob.key},
        {"to": bob.key, "message": "b"},
        {"to": bob.key, "message": "c"},
    ]});
    let first = post(&server, &alice, Some("order-7"), &body);
    assert_eq!(statuses(&results(&first.ok())), [200, 400, 200, 429]);
    assert_eq!(results(&first.ok())[3]["code"], "MONTHLY_LIMIT_EXCEEDED");
    let more = send(&server, &alice, &messages(&bob, 2));
    assert_eq!(statuses(&more), [429, 429], "the month limits messages, not requests");
    assert!(more.iter().all(|result| result["code"] == "MONTHLY_LIMIT_EXCEEDED"));
    // The refused message could be accepted now, and the state of the others has changed.
    database.set_enterprise(&alice.key, [1000, 1000, 1000, 1000]);
    server.register(&bob, "https://93.184.216.34/hook");
    server.kill();
    let server = database.serve();
    let again = post(&server, &alice, Some("order-7"), &body);
    assert_eq!(again.header("idempotency-replayed"), Some("true"));
    assert_eq!(again.ok(), first.ok());
    assert_eq!(database.count("envelopes"), 2);
    let mut same = body.clone();
    same["messages"][0]["thread"] = Value::Null;
    assert_eq!(post(&server, &alice, Some("order-7"), &same).ok(), first.ok(), "null is absent");
    let mut other = body.clone();
    other["messages"][1]["message"] = json!("d");
    post(&server, &alice, Some("order-7"), &other).refused(422, "IDEMPOTENCY_KEY_REUSED");
    let single = server.post("/v1/channel/send").by(&alice).header("Idempotency-Key", "order-7");
    let single = single.json(&json!({"to": bob.key, "message": "a"})).response();
    single.refused(422, "IDEMPOTENCY_KEY_REUSED");
    let fresh = post(&server, &alice, Some("order-8"), &body);
    assert_eq!(statuses(&results(&fresh.ok())), [200, 400, 200, 200]);
}

fn concurrent_repeats_store_each_message_once(database: &Database) {
    let nodes = database.serve_on_every_node();
    let client = nodes[0].client();
    let alice = client.new_identity();
    database.set_enterprise(&alice.key, [10_000, 10_000, 10_000, 10_000]);
    let body = json!({"messages": messages(&alice, 20)});
    let bodies = at_once(12, |nth| post(&nodes[nth % nodes.len()], &alice, Some("k"), &body).ok());
    let bodies: BTreeSet<_> = bodies.iter().map(Value::to_string).collect();
    assert_eq!(bodies.len(), 1, "{bodies:?}");
    assert_eq!(database.count("envelopes"), 20);
    let usage = &client.status(&alice).ok()["usage"];
    assert_eq!((&usage["month"]["used"], &usage["day"]["used"]), (&json!(20), &json!(241)));
}

fn envelopes_keep_the_order_of_the_messages(database: &Database) {
    let server = database.serve();
    let (alice, bob, receiver) = (server.new_identity(), server.new_identity(), Receiver::start());
    database.set_enterprise(&alice.key, [1000, 1000, 1000, 1000]);
    server.register(&bob, &receiver.url);
    let results = send(&server, &alice, &messages(&bob, 100));
    let ids: Vec<_> = results.iter().map(|result| text(result, "envelope_id")).collect();
    assert!(ids.is_sorted());
    assert!(results.iter().all(|result| result["state"] == "sent"));
    let delivered = receiver.await_requests(100);
    let delivered: BTreeSet<_> = delivered.iter().map(WebhookRequest::id).collect();
    assert_eq!(delivered, ids.iter().cloned().collect());
    assert_eq!(server.open(&bob, &ids[42]).ok()["message"], "42");
}
