//! Tests of recipient policies, which restrict the senders that can send to a key.

use serde_json::{Value, json};

use crate::support::{Client, Database, Identity, Response, Server, on_both, text};

on_both!(
    the_default_policy_accepts_everyone,
    a_block_beats_everything,
    only_the_allowlist_is_accepted,
    contacts_are_the_recipients_of_earlier_and_later_messages,
    nobody_is_accepted,
    a_repeated_send_gets_its_first_response_after_a_block,
    a_hidden_label_is_null,
    lists_are_judged_as_a_whole,
    a_block_holds_at_once_on_every_node,
);

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

fn the_default_policy_accepts_everyone(database: &Database) {
    let server = database.serve();
    let client = server.client();
    let (alice, bob) = (client.new_identity(), client.new_identity());
    let policy = json!({
        "accept": "anyone", "receipts": "notified", "listed": true, "allowed": [], "blocked": [],
    });
    assert_eq!(set(client, &bob, &json!({})).ok(), policy);
    check_accepted(client, &alice, &bob);
    let changed = set(client, &bob, &json!({"receipts": "opened"})).ok();
    assert_eq!(changed["receipts"], "opened");
    assert_eq!(set(client, &bob, &json!({})).ok(), changed);
    check_accepted(client, &alice, &bob);
}

fn a_block_beats_everything(database: &Database) {
    let server = database.serve();
    let client = server.client();
    let (alice, bob) = (client.new_identity_with_handle("alice"), client.new_identity());
    check_accepted(client, &bob, &alice);
    let blocked = set(client, &bob, &json!({"block": ["@alice"]})).ok();
    assert_eq!(blocked["blocked"], json!([alice.key]));
    check_refused(client, &alice, &bob);
    for accept in ["contacts", "allowlist", "anyone"] {
        set(client, &bob, &json!({"accept": accept})).ok();
        set(client, &bob, &json!({"allow": [alice.key]})).ok();
        check_refused(client, &alice, &bob);
    }
    let unblocked = set(client, &bob, &json!({"unblock": [alice.key]})).ok();
    assert_eq!((&unblocked["blocked"], &unblocked["allowed"]), (&json!([]), &json!([alice.key])));
    check_accepted(client, &alice, &bob);
}

fn only_the_allowlist_is_accepted(database: &Database) {
    let server = database.serve();
    let client = server.client();
    let (alice, carol) = (client.new_identity(), client.new_identity());
    let bob = client.new_identity();
    set(client, &bob, &json!({"accept": "allowlist", "allow": [alice.key]})).ok();
    check_accepted(client, &alice, &bob);
    check_refused(client, &carol, &bob);
    set(client, &bob, &json!({"unallow": [alice.key]})).ok();
    check_refused(client, &alice, &bob);
    let used = client.status(&alice).ok()["usage"].clone();
    assert_eq!((&used["minute"]["used"], &used["month"]["used"]), (&json!(3), &json!(1)));
}

fn contacts_are_the_recipients_of_earlier_and_later_messages(database: &Database) {
    let server = database.serve();
    let client = server.client();
    let (before, after) = (client.new_identity(), client.new_identity());
    let (stranger, bob) = (client.new_identity(), client.new_identity());
    check_accepted(client, &bob, &before);
    set(client, &bob, &json!({"accept": "contacts", "allow": []})).ok();
    check_accepted(client, &before, &bob);
    check_refused(client, &after, &bob);
    check_accepted(client, &bob, &after);
    check_accepted(client, &after, &bob);
    check_refused(client, &stranger, &bob);
    set(client, &bob, &json!({"allow": [stranger.key]})).ok();
    check_accepted(client, &stranger, &bob);
}

fn nobody_is_accepted(database: &Database) {
    let server = database.serve();
    let client = server.client();
    let (alice, bob) = (client.new_identity(), client.new_identity());
    check_accepted(client, &bob, &alice);
    set(client, &bob, &json!({"accept": "nobody", "allow": [alice.key]})).ok();
    check_refused(client, &alice, &bob);
}

fn a_repeated_send_gets_its_first_response_after_a_block(database: &Database) {
    let server = database.serve();
    let client = server.client();
    let (alice, bob) = (client.new_identity(), client.new_identity());
    let send = |name| {
        let body = json!({"to": bob.key, "message": "x"});
        let request = client.post("/v1/channel/send").by(&alice).header("Idempotency-Key", name);
        request.json(&body).response()
    };
    let first = send("one").ok();
    set(client, &bob, &json!({"block": [alice.key]})).ok();
    assert_eq!(send("one").ok(), first);
    send("two").refused(403, "RECIPIENT_REFUSES");
    set(client, &bob, &json!({"unblock": [alice.key]})).ok();
    assert_ne!(text(&send("two").ok(), "envelope_id"), text(&first, "envelope_id"));
}

fn a_hidden_label_is_null(database: &Database) {
    let server = database.serve();
    let client = server.client();
    let (alice, bob) = (client.new_identity(), client.new_identity());
    let label = || {
        let resolved = client.act(&alice, "/v1/did/resolve", &json!({"id": bob.key}));
        resolved.ok()["label"].clone()
    };
    assert_eq!(label(), "somebody");
    set(client, &bob, &json!({"listed": false})).ok();
    assert_eq!(label(), Value::Null);
    set(client, &bob, &json!({"listed": true})).ok();
    assert_eq!(label(), "somebody");
}

fn lists_are_judged_as_a_whole(database: &Database) {
    let server = database.serve();
    let client = server.client();
    let (alice, bob) = (client.new_identity_with_handle("alice"), client.new_identity());
    let refused =
        |body: Value, status, code| text(&set(client, &bob, &body).refused(status, code), "field");
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
    let policy = set(client, &bob, &json!({"accept": null, "allow": null})).ok();
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
