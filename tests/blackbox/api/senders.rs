//! Tests that events and opened envelopes contain the handle of the sender, and that identities can be looked up.

use serde_json::{Value, json};

use crate::support::{Client, Database, Identity, Receiver, Response, on_both, on_embedded, text};

on_both!(
    the_event_of_v1_1_has_the_handle_of_the_sender,
    an_opened_envelope_has_the_handle_of_the_sender,
    an_identity_is_found_by_key_and_by_handle,
);
on_embedded!(the_event_of_v1_0_has_exactly_the_members_of_the_contract);

fn the_event_of_v1_0_has_exactly_the_members_of_the_contract(database: &Database) {
    let server = database.serve();
    let (alice, bob) = (server.new_identity_with_handle("alice"), server.new_identity());
    let receiver = Receiver::start();
    server.register(&bob, &receiver.url);
    let sent = server.send(&alice, &bob.key, "x").ok();
    let expected = format!(
        concat!(
            r#"{{"event":"envelope.received","envelope_id":{},"envelope_hash":{},"sender":{},"#,
            r#""encryption":{{"algorithm":{},"status":"sealed"}},"#,
            r#""metadata":{{"payload_size_bytes":{},"timestamp":{}}}}}"#
        ),
        sent["envelope_id"],
        sent["envelope_hash"],
        sent["sender"],
        sent["encryption"]["algorithm"],
        sent["metadata"]["payload_size_bytes"],
        sent["metadata"]["timestamp"],
    );
    let request = receiver.await_requests(1).remove(0);
    assert_eq!(String::from_utf8(request.body).unwrap(), expected);
}

fn the_event_of_v1_1_has_the_handle_of_the_sender(database: &Database) {
    let server = database.serve_with(&["--events", "v1.1"]);
    let alice = server.new_identity_with_handle("alice");
    let (nameless, bob) = (server.new_identity(), server.new_identity());
    let receiver = Receiver::start();
    server.register(&bob, &receiver.url);
    for (sender, handle) in [(&alice, json!("alice")), (&nameless, Value::Null)] {
        server.send(sender, &bob.key, "x").ok();
        let request = receiver.await_requests(1 + usize::from(handle.is_null())).pop().unwrap();
        let event = request.json();
        assert_eq!(event["sender"], sender.key);
        assert_eq!(event.get("sender_handle"), Some(&handle));
    }
}

fn an_opened_envelope_has_the_handle_of_the_sender(database: &Database) {
    let server = database.serve();
    let alice = server.new_identity_with_handle("alice");
    let (nameless, bob) = (server.new_identity(), server.new_identity());
    for (sender, handle) in [(&alice, json!("alice")), (&nameless, Value::Null)] {
        let sent = server.send(sender, &bob.key, "x").ok();
        let opened = server.open(&bob, &text(&sent, "envelope_id")).ok();
        assert_eq!(opened.get("sender_handle"), Some(&handle));
    }
}

fn resolve(client: &Client, identity: &Identity, id: &str) -> Response {
    client.act(identity, "/v1/did/resolve", &json!({ "id": id }))
}

fn an_identity_is_found_by_key_and_by_handle(database: &Database) {
    let server = database.serve();
    let (alice, bob) = (server.new_identity_with_handle("alice"), server.new_identity());
    for id in [&*alice.key, "alice", "@ALICE"] {
        let expected = json!({
            "api_key_id": alice.key, "handle": "alice", "label": "somebody", "active": true,
        });
        assert_eq!(resolve(&server, &bob, id).ok(), expected, "{id}");
    }
    assert_eq!(resolve(&server, &alice, &bob.key).ok()["handle"], Value::Null);
    let used = server.status(&bob).ok()["usage"]["minute"]["used"].clone();
    assert_eq!(used, 4, "each request counts");
    for id in ["nobody", "ak_01h455vb4pex5vsknk084sn02q", "no name"] {
        assert_eq!(resolve(&server, &bob, id).refused(404, "KEY_NOT_FOUND")["field"], "id");
    }
    let raw = resolve(&server, &bob, &alice.did).refused(400, "RAW_DID_REJECTED");
    assert_eq!(raw["field"], "id");
    server.act(&bob, "/v1/did/resolve", &json!({})).refused(400, "MISSING_FIELD");
    database.operate(&["key", "deactivate", &alice.key]);
    assert_eq!(resolve(&server, &bob, "alice").ok()["active"], false);
}
