//! Tests the context of messages (thread, replied envelope and type), and the state in the response to a send.

use serde_json::{Value, json};

use crate::support::{
    Client, Database, Identity, Reaction, Receiver, Response, on_both, on_embedded, text,
};

on_both!(
    a_context_is_shown_to_both_sides,
    a_reply_inherits_its_thread_and_needs_a_stored_envelope,
    a_send_shows_the_state_of_its_receipt,
    a_retried_event_of_v1_1_has_the_context_and_the_handle_of_the_sender,
);
on_embedded!(an_invalid_context_is_refused, a_repeated_request_compares_its_context,);

const NONE: [&str; 3] = ["thread", "reply_to", "type"];

fn send(client: &Client, from: &Identity, to: &Identity, context: &Value) -> Response {
    let mut body = json!({"to": to.key, "message": "x"});
    body.as_object_mut().unwrap().extend(context.as_object().unwrap().clone());
    client.act(from, "/v1/channel/send", &body)
}

fn receipt(client: &Client, identity: &Identity, envelope: &str) -> Value {
    client.act(identity, "/v1/channel/receipt", &json!({"envelope_id": envelope})).ok()
}

#[track_caller]
fn assert_context(response: &Value, context: &Value) {
    for name in NONE {
        assert_eq!(response.get(name), Some(&context[name]), "{name} of {response}");
    }
}

fn a_context_is_shown_to_both_sides(database: &Database) {
    let server = database.serve();
    let (alice, bob) = (server.new_identity(), server.new_identity());
    let first = text(&server.send(&bob, &alice.key, "hello").ok(), "envelope_id");
    let context = json!({"thread": "Order:7_a.b-c", "reply_to": first, "type": "text/plain"});
    let id = text(&send(&server, &alice, &bob, &context).ok(), "envelope_id");
    for (id, context) in [(&id, &context), (&first, &json!({}))] {
        let (from, to) = if *id == first { (&bob, &alice) } else { (&alice, &bob) };
        assert_context(&server.open(to, id).ok(), context);
        assert_context(&receipt(&server, from, id), context);
    }
}

fn a_reply_inherits_its_thread_and_needs_a_stored_envelope(database: &Database) {
    let server = database.serve_with(&["--retention", "1h"]);
    let (alice, bob, carol) = (server.new_identity(), server.new_identity(), server.new_identity());
    let first = send(&server, &alice, &bob, &json!({"thread": "A"})).ok();
    let first = text(&first, "envelope_id");
    for (context, thread) in [
        (json!({"reply_to": first}), json!("A")),
        (json!({"reply_to": first, "thread": null}), json!("A")),
        (json!({"reply_to": first, "thread": "B"}), json!("B")),
    ] {
        for (from, to) in [(&alice, &bob), (&bob, &alice)] {
            let reply = text(&send(&server, from, to, &context).ok(), "envelope_id");
            assert_eq!(receipt(&server, from, &reply)["thread"], thread);
        }
    }
    let unknown = "env_01h455vb4pex5vsknk084sn02q";
    for (from, reply_to) in [(&carol, &*first), (&alice, unknown), (&alice, "env"), (&alice, "")] {
        let refused = send(&server, from, &bob, &json!({"reply_to": reply_to}));
        let refused = refused.refused(404, "ENVELOPE_NOT_FOUND");
        assert_eq!(refused["field"], "reply_to", "{reply_to}");
    }
}

fn an_invalid_context_is_refused(database: &Database) {
    let server = database.serve();
    let alice = server.new_identity();
    database.set_enterprise(&alice.key, [1000, 1000, 1000, 1000]);
    let long = "x".repeat(65);
    for (name, value) in [
        ("thread", json!("")),
        ("thread", json!("a b")),
        ("thread", json!(long)),
        ("thread", json!(7)),
        ("type", json!("")),
        ("type", json!("Text")),
        ("type", json!(long)),
        ("reply_to", json!(["env"])),
    ] {
        let refused = send(&server, &alice, &alice, &json!({name: value}));
        assert_eq!(refused.refused(400, "INVALID_FIELD")["field"], name, "{value}");
    }
    let nulls = json!({"thread": null, "reply_to": null, "type": null});
    send(&server, &alice, &alice, &nulls).ok();
}

fn a_repeated_request_compares_its_context(database: &Database) {
    let server = database.serve();
    let alice = server.new_identity();
    database.set_enterprise(&alice.key, [1000, 1000, 1000, 1000]);
    let send = |context: &Value| {
        let mut body = json!({"to": alice.key, "message": "x"});
        body.as_object_mut().unwrap().extend(context.as_object().unwrap().clone());
        let request = server.post("/v1/channel/send").by(&alice);
        request.header("Idempotency-Key", "order-7").json(&body).response()
    };
    let first = send(&json!({"thread": "A"}));
    let again = send(&json!({"thread": "A", "type": null}));
    assert_eq!(again.header("idempotency-replayed"), Some("true"));
    assert_eq!(again.ok(), first.ok());
    for other in [
        json!({}),
        json!({"thread": "B"}),
        json!({"type": "a"}),
        json!({"thread": "A", "type": "a"}),
    ] {
        send(&other).refused(422, "IDEMPOTENCY_KEY_REUSED");
    }
}

fn a_send_shows_the_state_of_its_receipt(database: &Database) {
    let server = database.serve();
    let (alice, bob) = (server.new_identity(), server.new_identity());
    database.set_enterprise(&alice.key, [1000, 1000, 1000, 1000]);
    let send = |key: &str| {
        let request = server.post("/v1/channel/send").by(&alice).header("Idempotency-Key", key);
        request.json(&json!({"to": bob.key, "message": "x"})).response().ok()
    };
    let waiting = send("a");
    assert_eq!((&waiting["status"], &waiting["state"]), (&json!("delivered"), &json!("waiting")));
    server.act(&bob, "/v1/did/policy", &json!({"receipts": "none"})).ok();
    assert_eq!(send("b")["state"], "sent", "the recipient hides that the envelope waits");
    server.act(&bob, "/v1/did/policy", &json!({"receipts": "opened"})).ok();
    let hanging = Receiver::reacting(|_| Reaction::Hang);
    server.register(&bob, &hanging.url);
    assert_eq!(send("c")["state"], "sent");
    assert_eq!(send("a"), waiting, "a repeated request gets the first state");
}

fn a_retried_event_of_v1_1_has_the_context_and_the_handle_of_the_sender(database: &Database) {
    let server = database.serve_with(&["--events", "v1.1", "--webhook-retry-schedule", "10ms"]);
    let (alice, bob) = (server.new_identity_with_handle("alice"), server.new_identity());
    let receiver = Receiver::reacting(|_| Reaction::Status(500));
    server.register(&bob, &receiver.url);
    let context = json!({"thread": "A", "type": "order.created", "reply_to": null});
    send(&server, &alice, &bob, &context).ok();
    // The first attempt sends the event from memory. The second attempt loads it from the database.
    let requests = receiver.await_requests(2);
    assert_eq!(requests[0].body, requests[1].body);
    assert_context(&requests[1].json(), &context);
    assert_eq!(requests[1].json()["sender_handle"], "alice");
}
