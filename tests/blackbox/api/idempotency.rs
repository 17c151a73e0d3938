//! Tests that a request with an `Idempotency-Key` is executed once, even if it is repeated, sent concurrently, or sent
//! to several nodes.

use std::{
    collections::BTreeSet,
    sync::atomic::{AtomicUsize, Ordering},
    thread,
};

use serde_json::{Value, json};

use crate::support::{
    Client, Database, Identity, Receiver, Response, SOON, Server, eventually, on_both, text,
};

on_both!(
    an_unreadable_idempotency_key_is_an_invalid_field,
    a_rejected_request_can_be_retried,
    a_replayed_request_counts_as_a_request_but_not_as_a_message,
    a_different_request_with_the_same_idempotency_key_is_rejected,
    concurrent_requests_with_one_idempotency_key_store_one_envelope,
    a_stored_response_survives_a_kill,
    a_request_without_a_response_can_be_repeated,
);

fn concurrent_requests_with_one_idempotency_key_store_one_envelope(database: &Database) {
    let nodes = database.serve_on_every_node();
    let client = nodes[0].client();
    let receiver = Receiver::start();
    let (alice, bob) = (client.new_identity(), client.new_identity());
    client.register(&bob, &receiver.url);
    database.set_enterprise(&alice.key, [1000, 1000, 1000, 1000]);
    let responses: Vec<Response> = thread::scope(|scope| {
        let threads: Vec<_> = (0..20)
            .zip(nodes.iter().cycle())
            .map(|(_, node)| scope.spawn(|| send(node.client(), &alice, &bob.key, "x", "order-7")))
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let bodies: BTreeSet<String> =
        responses.iter().map(|response| response.ok().to_string()).collect();
    assert_eq!(bodies.len(), 1, "{bodies:?}");
    assert_eq!(responses.iter().filter(|response| is_replay(response)).count(), 19);
    let envelope = text(&responses[0].ok(), "envelope_id");
    assert_eq!(receiver.await_requests(1)[0].id(), envelope);
    assert_eq!(database.count("envelopes"), 1);
    // One more send. Its delivery arrives after all deliveries before it had time to arrive.
    client.send(&alice, &bob.key, "y").ok();
    assert_eq!(receiver.await_requests(2).len(), 2);
    assert_eq!(client.open(&bob, &envelope).ok()["message"], "x");
    let status = client.status(&alice).ok();
    assert_eq!(status["usage"]["month"]["used"], 2);
    assert_eq!(status["usage"]["day"]["used"], 22, "each of the requests counts");
}

fn a_stored_response_survives_a_kill(database: &Database) {
    let server = database.serve();
    let (alice, bob) = (server.client().new_identity(), server.client().new_identity());
    let first = send(server.client(), &alice, &bob.key, "x", "order-7");
    assert!(!is_replay(&first));
    server.kill();
    let server = database.serve();
    let again = send(server.client(), &alice, &bob.key, "x", "order-7");
    assert!(is_replay(&again));
    assert_eq!(again.ok(), first.ok());
    assert_eq!(database.count("envelopes"), 1);
}

/// Kills the server while it stores an envelope, so the client does not know the result.
fn a_request_without_a_response_can_be_repeated(database: &Database) {
    let server = database.serve();
    let client = server.client().clone();
    let alice = client.new_identity();
    database.set_enterprise(&alice.key, [10_000, 10_000, 10_000, 10_000]);
    let started = AtomicUsize::new(0);
    let answered = thread::scope(|scope| {
        let sender = scope.spawn(|| {
            let mut answered = Vec::new();
            loop {
                let key = format!("order-{}", started.fetch_add(1, Ordering::Relaxed));
                match try_send(&client, &alice, &key) {
                    Ok(response) if response.status == 200 => answered.push(response.ok()),
                    _ => return answered,
                }
            }
        });
        eventually("some requests have started", SOON, || {
            (started.load(Ordering::Relaxed) > 20).then_some(())
        });
        server.kill();
        sender.join().unwrap()
    });
    let server = database.serve();
    let started = started.into_inner();
    assert_eq!(answered.len() + 1, started, "the last request got no response");
    for number in 0..started {
        let again = try_send(server.client(), &alice, &format!("order-{number}")).unwrap().ok();
        assert!(answered.get(number).is_none_or(|first| *first == again), "{number}");
    }
    assert_eq!(database.count("envelopes"), i64::try_from(started).unwrap());
}

fn a_different_request_with_the_same_idempotency_key_is_rejected(database: &Database) {
    let nodes = database.serve_on_every_node();
    let (one, other) = (nodes[0].client(), nodes.last().map(Server::client).unwrap());
    let (alice, bob) = (one.new_identity(), one.new_identity());
    let first = send(one, &alice, &bob.key, "x", "order-7").ok();
    for (to, message) in [(&bob.key, "y"), (&alice.key, "x"), (&bob.did, "x")] {
        let response = send(other, &alice, to, message, "order-7");
        response.refused(422, "IDEMPOTENCY_KEY_REUSED");
        assert!(response.header("ratelimit").is_some());
    }
    // An idempotency key is scoped to its sender.
    let by_bob = send(other, &bob, &bob.key, "x", "order-7");
    assert!(!is_replay(&by_bob));
    assert_ne!(by_bob.ok()["envelope_id"], first["envelope_id"]);
    assert_eq!(send(other, &alice, &bob.key, "x", "order-7").ok(), first);
}

fn a_rejected_request_can_be_retried(database: &Database) {
    let server = database.serve();
    let client = server.client();
    let alice = client.new_identity();
    send(client, &alice, "late", "x", "order-7").refused(404, "KEY_NOT_FOUND");
    client.new_identity_with_handle("late");
    let sent = send(client, &alice, "late", "x", "order-7");
    assert!(!is_replay(&sent));
    let again = send(client, &alice, "late", "x", "order-7");
    assert!(is_replay(&again));
    assert_eq!(again.ok(), sent.ok());
}

fn an_unreadable_idempotency_key_is_an_invalid_field(database: &Database) {
    let server = database.serve();
    let client = server.client();
    let alice = client.new_identity();
    for key in ["", "\"", "\"\"", "\"open", "a\tb", &"x".repeat(256), "ü"] {
        let response = send(client, &alice, &alice.key, "x", key);
        let problem = response.refused(400, "INVALID_FIELD");
        assert_eq!(problem["field"], "Idempotency-Key", "{key:?}");
    }
    // A quoted key and a bare key are the same.
    for (bare, quoted) in
        [("order-7", "\"order-7\""), (&"x".repeat(255), &format!("{:?}", "x".repeat(255)))]
    {
        let first = send(client, &alice, &alice.key, "x", bare);
        assert!(!is_replay(&first));
        let again = send(client, &alice, &alice.key, "x", quoted);
        assert!(is_replay(&again), "{quoted}");
        assert_eq!(again.ok(), first.ok());
    }
}

fn a_replayed_request_counts_as_a_request_but_not_as_a_message(database: &Database) {
    let server = database.serve();
    let client = server.client();
    let alice = client.new_identity();
    // The plan allows one message a month, so a second message would be rejected.
    database.set_enterprise(&alice.key, [1000, 1000, 1, 1]);
    let first = send(client, &alice, &alice.key, "x", "order-7");
    for requests in 2..5 {
        let again = send(client, &alice, &alice.key, "x", "order-7");
        assert!(is_replay(&again));
        assert_eq!(again.ok(), first.ok());
        let left = again.header("ratelimit").unwrap();
        assert!(left.contains(&format!("\"day\";r={};", 1000 - requests)), "{left}");
        assert!(left.contains("\"month\";r=0;"), "{left}");
    }
    let usage: Value = client.status(&alice).ok()["usage"].clone();
    assert_eq!((&usage["day"]["used"], &usage["month"]["used"]), (&json!(5), &json!(1)));
}

fn send(client: &Client, from: &Identity, to: &str, message: &str, key: &str) -> Response {
    let request = client.post("/v1/channel/send").by(from).header("Idempotency-Key", key);
    request.json(&json!({"to": to, "message": message})).response()
}

fn try_send(client: &Client, from: &Identity, key: &str) -> Result<Response, ureq::Error> {
    let request = client.post("/v1/channel/send").by(from).header("Idempotency-Key", key);
    request.json(&json!({"to": from.key, "message": "x"})).try_response()
}

/// Returns true if the response is the stored response of an earlier request. The only valid value of the header is
/// `true`.
#[track_caller]
fn is_replay(response: &Response) -> bool {
    response.ok();
    let value = response.header("idempotency-replayed");
    assert!(matches!(value, None | Some("true")), "{value:?}");
    value.is_some()
}
