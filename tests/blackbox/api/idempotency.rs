//! `Idempotency-Key`: the same request is done once, whoever repeats it, however often and wherever.

use std::{
    collections::BTreeSet,
    sync::atomic::{AtomicUsize, Ordering},
    thread,
};

use serde_json::{Value, json};

use crate::support::{
    Answer, Client, Database, Identity, Receiver, SOON, Server, eventually, on_both, text,
};

on_both!(
    a_key_that_cannot_be_read_is_a_fault_of_the_field,
    a_refused_request_may_be_tried_again,
    a_repeated_request_counts_as_a_request_and_not_as_a_message,
    another_request_under_the_same_key_is_refused,
    many_at_once_are_one,
    what_was_answered_is_remembered_over_a_kill,
    who_never_got_an_answer_may_repeat_the_request,
);

fn many_at_once_are_one(database: &Database) {
    let nodes = database.serve_on_every_node();
    let client = nodes[0].client();
    let receiver = Receiver::start();
    let (alice, bob) = (client.newcomer(), client.newcomer());
    client.register(&bob, &receiver.url);
    database.set_enterprise(&alice.key, [1000, 1000, 1000, 1000]);
    let answers: Vec<Answer> = thread::scope(|scope| {
        let threads: Vec<_> = (0..20)
            .zip(nodes.iter().cycle())
            .map(|(_, node)| scope.spawn(|| send(node.client(), &alice, &bob.key, "x", "order-7")))
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let bodies: BTreeSet<String> = answers.iter().map(|answer| answer.ok().to_string()).collect();
    assert_eq!(bodies.len(), 1, "{bodies:?}");
    assert_eq!(answers.iter().filter(|answer| is_replay(answer)).count(), 19);
    let envelope = text(&answers[0].ok(), "envelope_id");
    assert_eq!(receiver.await_notices(1)[0].id(), envelope);
    assert_eq!(database.count("envelopes"), 1);
    // One more, whose notice comes when all before it have had their time.
    client.send(&alice, &bob.key, "y").ok();
    assert_eq!(receiver.await_notices(2).len(), 2);
    assert_eq!(client.open(&bob, &envelope).ok()["message"], "x");
    let status = client.status(&alice).ok();
    assert_eq!(status["usage"]["month"]["used"], 2);
    assert_eq!(status["usage"]["day"]["used"], 22, "every one of them was a request");
}

fn what_was_answered_is_remembered_over_a_kill(database: &Database) {
    let server = database.serve();
    let (alice, bob) = (server.client().newcomer(), server.client().newcomer());
    let first = send(server.client(), &alice, &bob.key, "x", "order-7");
    assert!(!is_replay(&first));
    server.kill();
    let server = database.serve();
    let again = send(server.client(), &alice, &bob.key, "x", "order-7");
    assert!(is_replay(&again));
    assert_eq!(again.ok(), first.ok());
    assert_eq!(database.count("envelopes"), 1);
}

/// The server dies while it stores; nobody knows whether it had.
fn who_never_got_an_answer_may_repeat_the_request(database: &Database) {
    let server = database.serve();
    let client = server.client().clone();
    let alice = client.newcomer();
    database.set_enterprise(&alice.key, [10_000, 10_000, 10_000, 10_000]);
    let begun = AtomicUsize::new(0);
    let answered = thread::scope(|scope| {
        let sender = scope.spawn(|| {
            let mut answered = Vec::new();
            loop {
                let key = format!("order-{}", begun.fetch_add(1, Ordering::Relaxed));
                match try_send(&client, &alice, &key) {
                    Ok(answer) if answer.status == 200 => answered.push(answer.ok()),
                    _ => return answered,
                }
            }
        });
        eventually("some are begun", SOON, || (begun.load(Ordering::Relaxed) > 20).then_some(()));
        server.kill();
        sender.join().unwrap()
    });
    let server = database.serve();
    let begun = begun.into_inner();
    assert_eq!(answered.len() + 1, begun, "the last one was not answered");
    for number in 0..begun {
        let again = try_send(server.client(), &alice, &format!("order-{number}")).unwrap().ok();
        assert!(answered.get(number).is_none_or(|first| *first == again), "{number}");
    }
    assert_eq!(database.count("envelopes"), i64::try_from(begun).unwrap());
}

fn another_request_under_the_same_key_is_refused(database: &Database) {
    let nodes = database.serve_on_every_node();
    let (one, other) = (nodes[0].client(), nodes.last().map(Server::client).unwrap());
    let (alice, bob) = (one.newcomer(), one.newcomer());
    let first = send(one, &alice, &bob.key, "x", "order-7").ok();
    for (to, message) in [(&bob.key, "y"), (&alice.key, "x"), (&bob.did, "x")] {
        let answer = send(other, &alice, to, message, "order-7");
        answer.refused(422, "IDEMPOTENCY_KEY_REUSED");
        assert!(answer.header("ratelimit").is_some());
    }
    // The key is the sender's own, and so is what it means.
    let by_bob = send(other, &bob, &bob.key, "x", "order-7");
    assert!(!is_replay(&by_bob));
    assert_ne!(by_bob.ok()["envelope_id"], first["envelope_id"]);
    assert_eq!(send(other, &alice, &bob.key, "x", "order-7").ok(), first);
}

fn a_refused_request_may_be_tried_again(database: &Database) {
    let server = database.serve();
    let client = server.client();
    let alice = client.newcomer();
    send(client, &alice, "late", "x", "order-7").refused(404, "KEY_NOT_FOUND");
    client.newcomer_named("late");
    let sent = send(client, &alice, "late", "x", "order-7");
    assert!(!is_replay(&sent));
    let again = send(client, &alice, "late", "x", "order-7");
    assert!(is_replay(&again));
    assert_eq!(again.ok(), sent.ok());
}

fn a_key_that_cannot_be_read_is_a_fault_of_the_field(database: &Database) {
    let server = database.serve();
    let client = server.client();
    let alice = client.newcomer();
    for key in ["", "\"", "\"\"", "\"open", "a\tb", &"x".repeat(256), "ü"] {
        let answer = send(client, &alice, &alice.key, "x", key);
        let problem = answer.refused(400, "INVALID_FIELD");
        assert_eq!(problem["field"], "Idempotency-Key", "{key:?}");
    }
    // In quotes or bare, it is the same key.
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

fn a_repeated_request_counts_as_a_request_and_not_as_a_message(database: &Database) {
    let server = database.serve();
    let client = server.client();
    let alice = client.newcomer();
    // One message a month: a second one would be refused.
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

fn send(client: &Client, from: &Identity, to: &str, message: &str, key: &str) -> Answer {
    let request = client.post("/v1/channel/send").by(from).header("Idempotency-Key", key);
    request.json(&json!({"to": to, "message": message})).answer()
}

fn try_send(client: &Client, from: &Identity, key: &str) -> Result<Answer, ureq::Error> {
    let request = client.post("/v1/channel/send").by(from).header("Idempotency-Key", key);
    request.json(&json!({"to": from.key, "message": "x"})).try_answer()
}

/// Whether the answer was given before; `true` is the only value that says so.
#[track_caller]
fn is_replay(answer: &Answer) -> bool {
    answer.ok();
    let value = answer.header("idempotency-replayed");
    assert!(matches!(value, None | Some("true")), "{value:?}");
    value.is_some()
}
