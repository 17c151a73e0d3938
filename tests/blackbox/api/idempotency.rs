//! Tests that a request with an `Idempotency-Key` is executed once, even if it is repeated, sent concurrently, or sent
//! to several nodes.

use std::{
    sync::atomic::{AtomicUsize, Ordering},
    thread,
};

use serde_json::{Value, json};

use crate::support::{Client, Database, Identity, Response, Server, on_both, wait_until};

on_both!(
    a_request_without_a_response_can_be_repeated,
    a_rejected_request_can_be_retried,
    a_replayed_request_counts_as_a_request_but_not_as_a_message,
    a_different_request_with_the_same_idempotency_key_is_rejected,
);

/// Kills the server while it stores envelopes, so the client does not know the result.
fn a_request_without_a_response_can_be_repeated(database: &Database) {
    for (path, messages) in [("/v1/channel/send", 1), ("/v1/channel/send-batch", 10)] {
        let server = database.serve();
        let client = server.client().clone();
        let alice = client.new_identity();
        database.set_enterprise(&alice.key, [1_000_000, 1_000_000, 1_000_000, 1_000_000]);
        let message = json!({"to": alice.key, "message": "x"});
        let batch = json!({"messages": vec![message.clone(); messages]});
        let body = if messages == 1 { message } else { batch };
        let request = |client: &Client, number: usize| {
            let key = format!("order-{number}");
            let request = client.post(path).by(&alice).header("Idempotency-Key", &key);
            request.json(&body).try_response()
        };
        let started = AtomicUsize::new(0);
        let answered = thread::scope(|scope| {
            let sender = scope.spawn(|| {
                let mut answered = Vec::new();
                loop {
                    match request(&client, started.fetch_add(1, Ordering::Relaxed)) {
                        Ok(response) if response.status == 200 => answered.push(response.ok()),
                        _ => return answered,
                    }
                }
            });
            wait_until("some requests have started", || started.load(Ordering::Relaxed) > 20);
            server.kill();
            sender.join().unwrap()
        });
        let server = database.serve();
        let started = started.into_inner();
        assert_eq!(answered.len() + 1, started, "{path}: the last request got no response");
        for number in 0..started {
            let (again, first) = (request(&server, number).unwrap(), answered.get(number));
            let repeated = again.ok();
            assert!(first.is_none_or(|it| is_replay(&again) && *it == repeated), "{path} {number}");
        }
        let stored = database.count(&format!("envelopes WHERE sender = '{}'", alice.key));
        assert_eq!(stored, i64::try_from(started * messages).unwrap(), "{path}");
        server.stop();
    }
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
    let alice = server.new_identity();
    send(&server, &alice, "late", "x", "order-7").refused(404, "KEY_NOT_FOUND");
    server.new_identity_with_handle("late");
    let sent = send(&server, &alice, "late", "x", "order-7");
    assert!(!is_replay(&sent));
    let again = send(&server, &alice, "late", "x", "order-7");
    assert!(is_replay(&again));
    assert_eq!(again.ok(), sent.ok());
}

#[test]
fn an_unreadable_idempotency_key_is_an_invalid_field() {
    let server = Server::shared();
    let alice = server.new_identity();
    let message = json!({"to": alice.key, "message": "x"});
    let batch = json!({"messages": [message]});
    for key in ["", "\"\"", "\"open", &"x".repeat(256), "ü"] {
        for (path, body) in [("/v1/channel/send", &message), ("/v1/channel/send-batch", &batch)] {
            let request = server.post(path).by(&alice).header("Idempotency-Key", key).json(body);
            let problem = request.response().refused(400, "INVALID_FIELD");
            assert_eq!(problem["field"], "Idempotency-Key", "{path} {key:?}");
        }
    }
    // A quoted key and a bare key are the same.
    let bare = send(&server, &alice, &alice.key, "x", "order-7");
    let quoted = send(&server, &alice, &alice.key, "x", "\"order-7\"");
    assert_eq!((is_replay(&bare), is_replay(&quoted)), (false, true));
    assert_eq!(bare.ok(), quoted.ok());
}

fn a_replayed_request_counts_as_a_request_but_not_as_a_message(database: &Database) {
    let server = database.serve();
    let alice = server.new_identity();
    // The plan allows one message a month, so a second message would be rejected.
    database.set_enterprise(&alice.key, [1000, 1000, 1, 1]);
    let first = send(&server, &alice, &alice.key, "x", "order-7");
    for requests in 2..5 {
        let again = send(&server, &alice, &alice.key, "x", "order-7");
        assert!(is_replay(&again));
        assert_eq!(again.ok(), first.ok());
        let left = again.header("ratelimit").unwrap();
        assert!(left.contains(&format!("\"day\";r={};", 1000 - requests)), "{left}");
        assert!(left.contains("\"month\";r=0;"), "{left}");
    }
    let usage: Value = server.status(&alice).ok()["usage"].clone();
    assert_eq!((&usage["day"]["used"], &usage["month"]["used"]), (&json!(5), &json!(1)));
}

fn send(client: &Client, from: &Identity, to: &str, message: &str, key: &str) -> Response {
    let request = client.post("/v1/channel/send").by(from).header("Idempotency-Key", key);
    request.json(&json!({"to": to, "message": message})).response()
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
