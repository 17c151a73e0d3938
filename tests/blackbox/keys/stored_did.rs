//! Tests that the service rejects a stored DID that does not match the root secret of its API key.

use serde_json::json;

use crate::support::{Database, on_both, text};

on_both!(a_changed_did_is_neither_shown_nor_signed);

fn a_changed_did_is_neither_shown_nor_signed(database: &Database) {
    let server = database.serve();
    let (alice, bob) = (server.new_identity(), server.new_identity());
    database.assess(&alice.key, ["1", "1", "1", "0"]);
    let sent = text(&server.send(&alice, &bob.key, "from alice").ok(), "envelope_id");
    let set_did = |did: &str| {
        database.by_hand(&format!("UPDATE api_keys SET did = '{did}' WHERE id = '{}'", alice.key));
    };

    set_did(&bob.did);
    server.status(&alice).refused(500, "INTERNAL_ERROR");
    server.open(&bob, &sent).refused(500, "INTERNAL_ERROR");
    assert!(server.log().contains("differs from its root"), "{}", server.log());
    server.stop();

    let server = database.serve();
    let badge = || server.act(&alice, "/v1/badges/issue", &json!({"disclose_did": true}));
    badge().refused(500, "INTERNAL_ERROR");
    server.send(&alice, &bob.key, "x").refused(500, "INTERNAL_ERROR");
    server.send(&bob, &alice.key, "x").refused(500, "INTERNAL_ERROR");

    set_did(&alice.did);
    assert_eq!(text(&server.status(&alice).ok(), "did"), alice.did);
    badge().ok();
    server.send(&bob, &alice.key, "x").ok();
    assert_eq!(server.open(&bob, &sent).ok()["message"], "from alice");
    server.stop();
}
