//! Tests that the service rejects a stored DID that does not match the root secret of its API key.

use serde_json::json;

use crate::support::{Database, on_both, text};

on_both!(a_changed_did_is_neither_shown_nor_signed);

fn a_changed_did_is_neither_shown_nor_signed(database: &Database) {
    let server = database.serve();
    let client = server.client();
    let (alice, bob) = (client.new_identity(), client.new_identity());
    assess(database, &alice.key);
    let sent = text(&client.send(&alice, &bob.key, "from alice").ok(), "envelope_id");
    let set_did = |did: &str| {
        database.by_hand(&format!("UPDATE api_keys SET did = '{did}' WHERE id = '{}'", alice.key));
    };

    set_did(&bob.did);
    client.status(&alice).refused(500, "INTERNAL_ERROR");
    client.open(&bob, &sent).refused(500, "INTERNAL_ERROR");
    assert!(server.log().contains("differs from its root"), "{}", server.log());
    server.stop();

    let server = database.serve();
    let client = server.client();
    let badge = || client.act(&alice, "/v1/badges/issue", &json!({"disclose_did": true}));
    badge().refused(500, "INTERNAL_ERROR");
    client.send(&alice, &bob.key, "x").refused(500, "INTERNAL_ERROR");
    client.send(&bob, &alice.key, "x").refused(500, "INTERNAL_ERROR");

    set_did(&alice.did);
    assert_eq!(text(&client.status(&alice).ok(), "did"), alice.did);
    badge().ok();
    client.send(&bob, &alice.key, "x").ok();
    assert_eq!(client.open(&bob, &sent).ok()["message"], "from alice");
    server.stop();
}

fn assess(database: &Database, key: &str) {
    let metrics = ["--clarity=1", "--coherence=1", "--confidence=1", "--drift=0"];
    database.operate(&[&["assess", key], &metrics[..]].concat());
}
