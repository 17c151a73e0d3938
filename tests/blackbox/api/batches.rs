//! Tests that many messages in one request are checked, limited, counted and stored like single sends.

use std::{
    collections::BTreeSet,
    sync::atomic::{AtomicUsize, Ordering},
    thread,
};

use serde_json::{Value, json};

use crate::support::{
    Client, Database, Identity, Receiver, Response, SOON, WebhookRequest, eventually, on_both,
    text, within_one_minute,
};

on_both!(
    each_message_has_its_own_result,
    a_body_that_is_no_batch_is_refused,
    a_limit_accepts_the_first_messages,
    a_batch_that_exceeds_the_month_keeps_its_first_messages,
    an_empty_minute_refuses_the_whole_batch,
    a_repeated_batch_gets_the_same_results,
    concurrent_repeats_store_each_message_once,
    a_batch_without_a_response_can_be_repeated,
    envelopes_keep_the_order_of_the_messages,
);

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
    let client = server.client();
    let (alice, bob) = (client.new_identity(), client.new_identity_with_handle("bob"));
    database.set_enterprise(&alice.key, [1000, 1000, 1000, 1000]);
    let refused = |status: u16, code: &str, field: &Value| json!({"status": status, "code": code, "field": field});
    let cases = [
        (
            json!({"to": "ak_01h455vb4pex5vsknk084sn02q", "message": "x"}),
            refused(404, "KEY_NOT_FOUND", &json!("to")),
        ),
        (json!({"to": bob.did, "message": "x"}), refused(400, "RAW_DID_REJECTED", &json!("to"))),
        (json!({"to": "bob"}), refused(400, "MISSING_FIELD", &json!("message"))),
        (json!({"to": "bob", "message": 7}), refused(400, "INVALID_FIELD", &json!("message"))),
        (
            json!({"to": "bob", "message": "x", "thred": "a"}),
            refused(400, "INVALID_FIELD", &json!("thred")),
        ),
        (
            json!({"to": "bob", "message": "x", "api_key_id": alice.key}),
            refused(400, "INVALID_FIELD", &json!("api_key_id")),
        ),
        (
            json!({"to": "bob", "message": "x", "thread": ""}),
            refused(400, "INVALID_FIELD", &json!("thread")),
        ),
        (
            json!({"to": "bob", "message": "x", "reply_to": "env"}),
            refused(404, "ENVELOPE_NOT_FOUND", &json!("reply_to")),
        ),
        (
            json!({"to": "bob", "message": "x".repeat(262_145)}),
            refused(413, "PAYLOAD_TOO_LARGE", &json!("message")),
        ),
        (json!("hello"), refused(400, "INVALID_FIELD", &json!("messages"))),
        (Value::Null, refused(400, "INVALID_FIELD", &json!("messages"))),
    ];
    let mut batch: Vec<Value> = cases.iter().map(|(message, _)| message.clone()).collect();
    batch.insert(0, json!({"to": "@Bob", "message": "first", "thread": "A", "type": "text/plain"}));
    batch.push(json!({"to": bob.key, "message": "last"}));
    let results = send(client, &alice, &json!(batch));
    for ((_, expected), result) in cases.iter().zip(&results[1..]) {
        for (name, value) in expected.as_object().unwrap() {
            assert_eq!(&result[name], value, "{result}");
        }
        let members: BTreeSet<_> = result.as_object().unwrap().keys().map(String::as_str).collect();
        assert_eq!(members, BTreeSet::from(["status", "code", "detail", "field"]));
        assert!(!text(result, "detail").is_empty());
    }
    for (result, message) in [(&results[0], "first"), (results.last().unwrap(), "last")] {
        let id = text(result, "envelope_id");
        let single = client.send(&alice, "bob", "x").ok();
        let expected: BTreeSet<_> = single.as_object().unwrap().keys().collect();
        assert_eq!(result.as_object().unwrap().keys().collect::<BTreeSet<_>>(), expected);
        assert_eq!((&result["status"], &result["state"]), (&json!(200), &json!("waiting")));
        assert_eq!(client.open(&bob, &id).ok()["message"], message);
    }
    let opened = client.open(&bob, &text(&results[0], "envelope_id")).ok();
    assert_eq!((&opened["thread"], &opened["type"]), (&json!("A"), &json!("text/plain")));
    let usage = &client.status(&alice).ok()["usage"];
    assert_eq!(usage["month"]["used"], 4);
    assert_eq!(usage["day"]["used"], batch.len() + 3, "each message counts as a request");
}

fn a_body_that_is_no_batch_is_refused(database: &Database) {
    let server = database.serve();
    let client = server.client();
    let alice = client.new_identity();
    for (body, code, field) in [
        (json!({}), "MISSING_FIELD", "messages"),
        (json!({"messages": []}), "MISSING_FIELD", "messages"),
        (json!({"messages": null}), "MISSING_FIELD", "messages"),
        (json!({"messages": {"to": "bob"}}), "INVALID_FIELD", "messages"),
        (json!({"messages": messages(&alice, 101)}), "INVALID_FIELD", "messages"),
        (json!({"messages": messages(&alice, 1), "to": "bob"}), "INVALID_FIELD", "to"),
    ] {
        let refused = post(client, &alice, None, &body).refused(400, code);
        assert_eq!(refused["field"], field, "{body}");
    }
    assert_eq!(client.status(&alice).ok()["usage"]["day"]["used"], 7);
    let token = client.token_with(&alice, &["read"]);
    let body = json!({"messages": messages(&alice, 1)});
    let request = client.post("/v1/channel/send-batch").token(&token).json(&body);
    request.response().refused(403, "INSUFFICIENT_SCOPE");
}

fn a_limit_accepts_the_first_messages(database: &Database) {
    let server = database.serve();
    let client = server.client();
    let (accepted, status, more) = within_one_minute(|| {
        let alice = client.new_identity();
        database.set_enterprise(&alice.key, [20, 1000, 1000, 1000]);
        send(client, &alice, &messages(&alice, 13));
        let accepted = post(client, &alice, None, &json!({"messages": messages(&alice, 11)}));
        let more = post(client, &alice, None, &json!({"messages": messages(&alice, 1)}));
        (accepted, client.status(&alice), more)
    });
    let results = results(&accepted.ok());
    assert_eq!(statuses(&results), [vec![200; 7], vec![429; 4]].concat());
    assert!(results[7..].iter().all(|result| result["code"] == "RATE_LIMIT_EXCEEDED"));
    assert!(accepted.header("ratelimit").unwrap().contains(r#""minute";r=0"#));
    status.refused(429, "RATE_LIMIT_EXCEEDED");
    more.refused(429, "RATE_LIMIT_EXCEEDED");
}

fn a_batch_that_exceeds_the_month_keeps_its_first_messages(database: &Database) {
    let server = database.serve();
    let client = server.client();
    let alice = client.new_identity();
    database.set_enterprise(&alice.key, [1000, 1000, 1000, 1000]);
    database.set_enterprise(&alice.key, [1000, 1000, 5, 1000]);
    let results = send(client, &alice, &messages(&alice, 7));
    assert_eq!(statuses(&results), [200, 200, 200, 200, 200, 429, 429]);
    assert!(results[5..].iter().all(|result| result["code"] == "MONTHLY_LIMIT_EXCEEDED"));
    let results = send(client, &alice, &messages(&alice, 2));
    assert_eq!(statuses(&results), [429, 429], "the month limits messages, not requests");
    assert_eq!(database.count("envelopes"), 5);
}

fn an_empty_minute_refuses_the_whole_batch(database: &Database) {
    let server = database.serve();
    let client = server.client();
    let refused = within_one_minute(|| {
        let alice = client.new_identity();
        database.set_enterprise(&alice.key, [20, 1000, 1000, 1000]);
        send(client, &alice, &messages(&alice, 20));
        post(client, &alice, Some("k"), &json!({"messages": messages(&alice, 2)}))
    });
    refused.refused(429, "RATE_LIMIT_EXCEEDED");
    assert!(refused.header("retry-after").is_some());
}

fn a_repeated_batch_gets_the_same_results(database: &Database) {
    let server = database.serve();
    let client = server.client();
    let (alice, bob) = (client.new_identity(), client.new_identity());
    database.set_enterprise(&alice.key, [1000, 1000, 2, 1000]);
    let body = json!({"messages": [
        {"to": bob.key, "message": "a"},
        {"to": bob.key},
        {"to": bob.key, "message": "b"},
        {"to": bob.key, "message": "c"},
    ]});
    let first = post(client, &alice, Some("order-7"), &body);
    assert_eq!(statuses(&results(&first.ok())), [200, 400, 200, 429]);
    // The refused message could be accepted now, and the state of the others has changed.
    database.set_enterprise(&alice.key, [1000, 1000, 1000, 1000]);
    client.register(&bob, "https://93.184.216.34/hook");
    server.kill();
    let server = database.serve();
    let client = server.client();
    let again = post(client, &alice, Some("order-7"), &body);
    assert_eq!(again.header("idempotency-replayed"), Some("true"));
    assert_eq!(again.ok(), first.ok());
    assert_eq!(database.count("envelopes"), 2);
    let mut same = body.clone();
    same["messages"][0]["thread"] = Value::Null;
    assert_eq!(post(client, &alice, Some("order-7"), &same).ok(), first.ok(), "null is absent");
    let mut other = body.clone();
    other["messages"][1]["message"] = json!("d");
    post(client, &alice, Some("order-7"), &other).refused(422, "IDEMPOTENCY_KEY_REUSED");
    let single = client.post("/v1/channel/send").by(&alice).header("Idempotency-Key", "order-7");
    let single = single.json(&json!({"to": bob.key, "message": "a"})).response();
    single.refused(422, "IDEMPOTENCY_KEY_REUSED");
    let fresh = post(client, &alice, Some("order-8"), &body);
    assert_eq!(statuses(&results(&fresh.ok())), [200, 400, 200, 200]);
}

fn concurrent_repeats_store_each_message_once(database: &Database) {
    let nodes = database.serve_on_every_node();
    let client = nodes[0].client();
    let alice = client.new_identity();
    database.set_enterprise(&alice.key, [10_000, 10_000, 10_000, 10_000]);
    let body = json!({"messages": messages(&alice, 20)});
    let bodies: BTreeSet<String> = thread::scope(|scope| {
        let threads: Vec<_> = (0..12)
            .zip(nodes.iter().cycle())
            .map(|(_, node)| scope.spawn(|| post(node.client(), &alice, Some("k"), &body).ok()))
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap().to_string()).collect()
    });
    assert_eq!(bodies.len(), 1, "{bodies:?}");
    assert_eq!(database.count("envelopes"), 20);
    let usage = &client.status(&alice).ok()["usage"];
    assert_eq!((&usage["month"]["used"], &usage["day"]["used"]), (&json!(20), &json!(241)));
}

/// Kills the server while it stores batches, so the client does not know the results.
fn a_batch_without_a_response_can_be_repeated(database: &Database) {
    let server = database.serve();
    let client = server.client().clone();
    let alice = client.new_identity();
    database.set_enterprise(&alice.key, [1_000_000, 1_000_000, 1_000_000, 1_000_000]);
    let body = json!({"messages": messages(&alice, 10)});
    let started = AtomicUsize::new(0);
    let answered = thread::scope(|scope| {
        let sender = scope.spawn(|| {
            let mut answered = Vec::new();
            loop {
                let key = format!("order-{}", started.fetch_add(1, Ordering::Relaxed));
                let request = client.post("/v1/channel/send-batch").by(&alice).json(&body);
                match request.header("Idempotency-Key", &key).try_response() {
                    Ok(response) if response.status == 200 => answered.push(response.ok()),
                    _ => return answered,
                }
            }
        });
        eventually("some batches have started", SOON, || {
            (started.load(Ordering::Relaxed) > 10).then_some(())
        });
        server.kill();
        sender.join().unwrap()
    });
    let server = database.serve();
    let all: Vec<Value> = (0..started.into_inner())
        .map(|n| post(server.client(), &alice, Some(&format!("order-{n}")), &body).ok())
        .collect();
    assert_eq!(all[..answered.len()], answered);
    assert_eq!(database.count("envelopes"), i64::try_from(10 * all.len()).unwrap());
}

fn envelopes_keep_the_order_of_the_messages(database: &Database) {
    let server = database.serve();
    let client = server.client();
    let (alice, bob, receiver) = (client.new_identity(), client.new_identity(), Receiver::start());
    database.set_enterprise(&alice.key, [1000, 1000, 1000, 1000]);
    client.register(&bob, &receiver.url);
    let results = send(client, &alice, &messages(&bob, 100));
    let ids: Vec<_> = results.iter().map(|result| text(result, "envelope_id")).collect();
    assert!(ids.is_sorted());
    assert!(results.iter().all(|result| result["state"] == "sent"));
    let delivered = receiver.await_requests(100);
    let delivered: BTreeSet<_> = delivered.iter().map(WebhookRequest::id).collect();
    assert_eq!(delivered, ids.iter().cloned().collect());
    assert_eq!(client.open(&bob, &ids[42]).ok()["message"], "42");
}
