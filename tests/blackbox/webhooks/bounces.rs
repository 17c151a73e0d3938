//! Tests of the event `envelope.bounced`, which informs a sender that an envelope did not reach its recipient.

use serde_json::json;

use crate::support::{Database, Reaction, Receiver, SOON, eventually, on_both, text};

on_both!(
    the_sender_hears_once_of_an_exhausted_envelope,
    the_sender_hears_of_envelopes_to_a_revoked_key,
    a_bounce_is_listed_and_sent_again,
    a_subscription_holds_after_a_restart_with_v1_0,
);

const V1_1: &[&str] = &["--events", "v1.1", "--webhook-retry-schedule", "10ms,10ms"];

fn the_sender_hears_once_of_an_exhausted_envelope(database: &Database) {
    let server = database.serve_with(V1_1);
    let (alice, bob) = (server.new_identity(), server.new_identity());
    let (failing, informed) = (Receiver::reacting(|_| Reaction::Status(500)), Receiver::start());
    server.register(&bob, &failing.url);
    let hook = server.register_for(&alice, &informed.url, &["envelope.bounced"]);
    assert_eq!(hook["events"], json!(["envelope.bounced"]));
    let sent: Vec<_> =
        (0..3).map(|_| text(&server.send(&alice, &bob.key, "x").ok(), "envelope_id")).collect();
    let requests = informed.await_requests(3);
    let mut bounced = Vec::new();
    for request in &requests {
        request.verify(&text(&hook, "secret"));
        let body = request.json();
        bounced.push(text(&body, "envelope_id"));
        assert_eq!(
            body,
            json!({
                "event": "envelope.bounced",
                "event_id": request.id(),
                "envelope_id": body["envelope_id"],
                "recipient": bob.key,
                "reason": "exhausted",
                "metadata": {"timestamp": body["metadata"]["timestamp"]},
            })
        );
        assert!(request.id().starts_with("evt_"));
    }
    bounced.sort();
    assert_eq!(bounced, sent);
    assert_eq!(failing.requests().len(), 9);
}

fn the_sender_hears_of_envelopes_to_a_revoked_key(database: &Database) {
    let server = database.serve_with(&["--events", "v1.1", "--webhook-retry-schedule", "1h"]);
    let (alice, bob) = (server.new_identity(), server.new_identity());
    let (failing, informed) = (Receiver::reacting(|_| Reaction::Status(500)), Receiver::start());
    server.register(&bob, &failing.url);
    server.register_for(&alice, &informed.url, &["envelope.bounced", "envelope.received"]);
    let sent = server.send(&alice, &bob.key, "x").ok();
    failing.await_requests(1);
    database.operate(&["key", "revoke", &bob.key]);
    let request = informed.await_requests(1).remove(0);
    let body = request.json();
    assert_eq!(body["reason"], "recipient_revoked");
    assert_eq!(body["envelope_id"], sent["envelope_id"]);
}

fn a_bounce_is_listed_and_sent_again(database: &Database) {
    let server = database.serve_with(V1_1);
    let (alice, bob) = (server.new_identity(), server.new_identity());
    let (failing, informed) = (Receiver::reacting(|_| Reaction::Status(500)), Receiver::start());
    server.register(&bob, &failing.url);
    let hook =
        text(&server.register_for(&alice, &informed.url, &["envelope.bounced"]), "webhook_id");
    server.send(&alice, &bob.key, "x").ok();
    let first = informed.await_requests(1).remove(0);
    let listed = json!({"action": "deliveries", "webhook_id": hook, "state": "succeeded"});
    let listed = eventually("the success is logged", SOON, || {
        let listed = server.manage(&alice, &listed).ok();
        listed["deliveries"].get(0).cloned()
    });
    assert_eq!(listed["envelope_id"], first.id());
    let again = json!({"action": "redeliver", "webhook_id": hook, "envelope_id": first.id()});
    assert_eq!(server.manage(&alice, &again).ok()["envelope_id"], first.id());
    let second = informed.await_requests(2).remove(1);
    assert_eq!((second.id(), &second.body), (first.id(), &first.body));
}

fn a_subscription_holds_after_a_restart_with_v1_0(database: &Database) {
    let server = database.serve_with(V1_1);
    let (alice, bob) = (server.new_identity(), server.new_identity());
    let (failing, informed) = (Receiver::reacting(|_| Reaction::Status(500)), Receiver::start());
    server.register(&bob, &failing.url);
    server.register_for(&alice, &informed.url, &["envelope.bounced"]);
    server.stop();
    let server = database.serve_with(&["--webhook-retry-schedule", "10ms"]);
    server.send(&alice, &bob.key, "x").ok();
    informed.await_requests(1);
    let body = json!({"url": informed.url, "events": ["envelope.bounced"]});
    server.act(&alice, "/v1/webhooks/register", &body).refused(400, "INVALID_FIELD");
}
