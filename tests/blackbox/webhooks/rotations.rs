//! Tests of the event `identity.rotated`, which the correspondents of a key get when the key changes.

use std::collections::HashSet;

use serde_json::{Value, json};

use crate::support::{Database, Identity, Receiver, WebhookRequest, on_both, text};

on_both!(correspondents_get_one_event_for_each_change_of_a_key);

const V1_1: &[&str] = &["--events", "v1.1"];
const ROTATED: &[&str] = &["identity.rotated"];

/// Checks the payload and the signature of an event about this key. Returns the event's id.
#[track_caller]
fn check(request: &WebhookRequest, hook: &Value, key: &Identity, change: [&Value; 3]) -> String {
    request.verify(&text(hook, "secret"));
    let body = request.json();
    let [handle, replaced_by, reason] = change;
    assert_eq!(
        body,
        json!({
            "event": "identity.rotated",
            "event_id": request.id(),
            "api_key_id": key.key,
            "handle": handle,
            "replaced_by": replaced_by,
            "reason": reason,
            "metadata": {"timestamp": body["metadata"]["timestamp"]},
        })
    );
    assert!(request.id().starts_with("evt_"));
    request.id()
}

fn correspondents_get_one_event_for_each_change_of_a_key(database: &Database) {
    let nodes = database.serve_on_every_node_with(V1_1);
    let (first, last) = (nodes[0].client(), nodes[nodes.len() - 1].client());
    let (alice, bob) = (first.new_identity(), first.new_identity_with_handle("bob"));
    let (carol, dave) = (last.new_identity(), last.new_identity());
    let receivers: [Receiver; 4] = std::array::from_fn(|_| Receiver::start());
    let [of_alice, of_carol, of_bob, of_dave] = &receivers;
    let hooks = [
        first.register_for(&alice, &of_alice.url, ROTATED),
        last.register_for(&carol, &of_carol.url, ROTATED),
    ];
    first.register_for(&bob, &of_bob.url, ROTATED);
    last.register_for(&dave, &of_dave.url, ROTATED);
    first.send(&alice, &bob.key, "x").ok();
    last.send(&bob, &carol.key, "x").ok();

    let (handle, next) = (Value::from("bob"), Value::from(dave.key.clone()));
    let changes: [(&[&str], [&Value; 3]); 3] = [
        (&["key", "rotate", &bob.key], [&handle, &Value::Null, &"sealing_key".into()]),
        (&["key", "revoke", &bob.key], [&handle, &Value::Null, &"revoked".into()]),
        (&["handle", "assign", "bob", &dave.key], [&handle, &next, &"replaced".into()]),
    ];
    let mut ids = HashSet::new();
    for (number, (command, change)) in changes.into_iter().enumerate() {
        database.operate(command);
        for (receiver, hook) in [of_alice, of_carol].into_iter().zip(&hooks) {
            let requests = receiver.await_requests(number + 1);
            ids.insert((text(hook, "webhook_id"), check(&requests[number], hook, &bob, change)));
        }
    }
    let counts = receivers.each_ref().map(|receiver| receiver.requests().len());
    assert_eq!(counts, [3, 3, 0, 0], "the key itself and strangers get none");
    assert_eq!(ids.len(), 6, "each change has an event id of its own");
}
