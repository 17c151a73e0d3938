//! Tests of recipient policies, which restrict the senders that can send to a key.

use serde_json::{Value, json};

use crate::support::{Client, Database, Identity, Response, Server, on_both, on_embedded, text};

on_both!(
    a_block_beats_everything,
    only_the_allowlist_is_accepted,
    contacts_are_the_recipients_of_earlier_and_later_messages,
    a_block_holds_at_once_on_every_node,
);
on_embedded!(lists_are_judged_as_a_whole);

fn set(client: &Client, identity: &Identity, body: &Value) -> Response {
    client.act(identity, "/v1/did/policy", body)
}

/// Checks that the recipient refuses the sender, with the same problem for every reason.
#[track_caller]
fn check_refused(client: &Client, from: &Identity, to: &Identity) {
    let response = client.send(from, &to.key, "x");
    assert!(response.headers.contains_key("RateLimit"));
    let problem = response.refused(403, "RECIPIENT_REFUSES");
    assert_eq!(problem["field"], "to");
    assert_eq!(
        problem["detail"],
        "the recipient does not accept messages from this API key; ask the recipient to allow it"
    );
    assert_eq!(problem.as_object().unwrap().len(), 7, "{problem}");
}

#[track_caller]
fn check_accepted(client: &Client, from: &Identity, to: &Identity) {
    client.send(from, &to.key, "x").ok();
}

#[test]
fn the_default_policy_accepts_everyone() {
    let server = Server::shared();
    let (alice, bob) = (server.new_identity(), server.new_identity());
    let policy = json!({
        "accept": "anyone", "receipts": "notified", "listed": true, "allowed": [], "blocked": [],
    });
    assert_eq!(set(&server, &bob, &json!({})).ok(), policy);
    check_accepted(&server, &alice, &bob);
    let changed = set(&server, &bob, &json!({"receipts": "opened"})).ok();
    assert_eq!(changed["receipts"], "opened");
    assert_eq!(set(&server, &bob, &json!({})).ok(), changed);
    check_accepted(&server, &alice, &bob);
}

fn a_block_beats_everything(database: &Database) {
    let server = database.serve();
    let (alice, bob) = (server.new_identity_with_handle("alice"), server.new_identity());
    check_accepted(&server, &bob, &alice);
    let blocked = set(&server, &bob, &json!({"block": ["@alice"]})).ok();
    assert_eq!(blocked["blocked"], json!([alice.key]));
    check_refused(&server, &alice, &bob);
    for accept in ["contacts", "allowlist", "anyone"] {
        set(&server, &bob, &json!({"accept": accept})).ok();
        set(&server, &bob, &json!({"allow": [alice.key]})).ok();
        check_refused(&server, &alice, &bob);
    }
    let unblocked = set(&server, &bob, &json!({"unblock": [alice.key]})).ok();
    assert_eq!((&unblocked["blocked"], &unblocked["allowed"]), (&json!([]), &json!([alice.key])));
    check_accepted(&server, &alice, &bob);
}

fn only_the_allowlist_is_accepted(database: &Database) {
    let server = database.serve();
    let (alice, carol) = (server.new_identity(), server.new_identity());
    let bob = server.new_identity();
    set(&server, &bob, &json!({"accept": "allowlist", "allow": [alice.key]})).ok();
    check_accepted(&server, &alice, &bob);
    check_refused(&server, &carol, &bob);
    set(&server, &bob, &json!({"unallow": [alice.key]})).ok();
    check_refused(&server, &alice, &bob);
    let used = server.status(&alice).ok()["usage"].clone();
    assert_eq!((&used["minute"]["used"], &used["month"]["used"]), (&json!(3), &json!(1)));
}

fn contacts_are_the_recipients_of_earlier_and_later_messages(database: &Database) {
    let server = database.serve();
    let (before, after) = (server.new_identity(), server.new_identity());
    let (stranger, bob) = (server.new_identity(), server.new_identity());
    check_accepted(&server, &bob, &before);
    set(&server, &bob, &json!({"accept": "contacts", "allow": []})).ok();
    check_accepted(&server, &before, &bob);
    check_refused(&server, &after, &bob);
    check_accepted(&server, &bob, &after);
    check_accepted(&server, &after, &bob);
    check_refused(&server, &stranger, &bob);
    set(&server, &bob, &json!({"allow": [stranger.key]})).ok();
    check_accepted(&server, &stranger, &bob);
    // Neither is accepted by the policy of nobody.
    set(&server, &bob, &json!({"accept": "nobody"})).ok();
    check_refused(&server, &stranger, &bob);
    check_refused(&server, &before, &bob);
}

#[test]
fn a_hidden_label_is_null() {
    let server = Server::shared();
    let (alice, bob) = (server.new_identity(), server.new_identity());
    let label = || {
        let resolved = server.act(&alice, "/v1/did/resolve", &json!({"id": bob.key}));
        resolved.ok()["label"].clone()
    };
    assert_eq!(label(), "somebody");
    set(&server, &bob, &json!({"listed": false})).ok();
    assert_eq!(label(), Value::Null);
    set(&server, &bob, &json!({"listed": true})).ok();
    assert_eq!(label(), "somebody");
}

fn lists_are_judged_as_a_whole(database: &Database) {
    let server = database.serve();
    let (alice, bob) = (server.new_identity_with_handle("alice"), server.new_identity());
    let refused =
        |body: Value, status, code| text(&set(&server, &bob, &body).refused(status, code), "field");
    let unknown = json!({"allow": [alice.key], "block": ["stranger"]});
    assert_eq!(refused(unknown, 404, "KEY_NOT_FOUND"), "block");
    let unknown = json!({"unallow": ["ak_01h455vb4pex5vsknk084sn02q"]});
    assert_eq!(refused(unknown, 404, "KEY_NOT_FOUND"), "unallow");
    let raw = json!({"block": [alice.did]});
    assert_eq!(refused(raw, 400, "RAW_DID_REJECTED"), "block");
    for [one, other, field] in [
        ["allow", "unallow", "unallow"],
        ["block", "unblock", "unblock"],
        ["allow", "block", "block"],
    ] {
        let opposite = json!({one: ["alice"], other: [alice.key]});
        assert_eq!(refused(opposite, 400, "INVALID_FIELD"), field);
    }
    let many = vec!["alice"; 101];
    for (body, field) in [
        (json!({"block": many}), "block"),
        (json!({"block": "alice"}), "block"),
        (json!({"block": [1]}), "block"),
        (json!({"accept": "everyone"}), "accept"),
        (json!({"accept": 1}), "accept"),
        (json!({"receipts": "all"}), "receipts"),
        (json!({"listed": "no"}), "listed"),
        (json!({"blocks": []}), "blocks"),
    ] {
        assert_eq!(refused(body, 400, "INVALID_FIELD"), field);
    }
    let policy = set(&server, &bob, &json!({"accept": null, "allow": null})).ok();
    assert_eq!((&policy["allowed"], &policy["blocked"]), (&json!([]), &json!([])));
}

/// Each node caches policies, and must apply a block that was set on another node at once.
fn a_block_holds_at_once_on_every_node(database: &Database) {
    let servers = database.serve_on_every_node();
    let clients: Vec<_> = servers.iter().map(Server::client).collect();
    let (first, last) = (clients[0], clients[clients.len() - 1]);
    let (alice, bob) = (first.new_identity(), first.new_identity());
    for _ in 0..3 {
        for client in &clients {
            check_accepted(client, &alice, &bob);
        }
        set(last, &bob, &json!({"block": [alice.key]})).ok();
        for client in &clients {
            check_refused(client, &alice, &bob);
        }
        set(first, &bob, &json!({"unblock": [alice.key]})).ok();
    }
}
