//! Tests of the limits on the number of keys and webhooks, and of the uniqueness of handles.

use serde_json::json;

use crate::support::{Database, Identity, Receiver, at_once, check_winners, on_both, text};

on_both!(
    a_key_has_at_most_sixteen_webhooks,
    one_of_many_concurrent_activations_gets_the_handle,
    the_limit_on_keys_holds_under_concurrent_activations,
);

fn the_limit_on_keys_holds_under_concurrent_activations(database: &Database) {
    let server = database.serve_with(&["--max-keys-per-account", "3"]);
    let alice = server.new_identity();
    let label = json!({"label": "a"});
    let activate = |_| server.act_as_owner(&alice, "/v1/did/activate", &label);
    check_winners(&at_once(8, activate), 2, (403, "QUOTA_EXCEEDED"));
    let problem = activate(9).refused(403, "QUOTA_EXCEEDED");
    assert!(text(&problem, "detail").contains('3'), "{problem}");
    server.new_identity();
}

fn a_key_has_at_most_sixteen_webhooks(database: &Database) {
    let (server, receiver) = (database.serve(), Receiver::start());
    let alice = server.new_identity();
    let sibling = server.sibling(&alice);
    let first = server.register(&alice, &receiver.url);
    for _ in 1..16 {
        server.register(&alice, &receiver.url);
    }
    let register = |identity: &Identity| {
        let body = json!({"url": receiver.url, "events": ["envelope.received"]});
        server.act(identity, "/v1/webhooks/register", &body)
    };
    let problem = register(&alice).refused(403, "QUOTA_EXCEEDED");
    assert!(problem["detail"].as_str().unwrap().contains("16"), "{problem}");
    register(&sibling).ok();
    server.manage(&alice, &json!({"action": "delete", "webhook_id": first["webhook_id"]})).ok();
    register(&alice).ok();
    assert_eq!(server.status(&alice).ok()["webhooks"], 16);
}

fn one_of_many_concurrent_activations_gets_the_handle(database: &Database) {
    let server = database.serve();
    let activate = |_| server.activate(&json!({"label": "a", "handle": "wanted"}));
    check_winners(&at_once(8, activate), 1, (409, "HANDLE_TAKEN"));
    // Not even the owner of an active key gets its handle again.
    let (alice, bob) = (server.new_identity_with_handle("alice"), server.new_identity());
    for who in [&alice, &bob] {
        let again = json!({"label": "a", "handle": "Alice"});
        server.act_as_owner(who, "/v1/did/activate", &again).refused(409, "HANDLE_TAKEN");
    }
    assert_eq!(server.send(&bob, "alice", "x").ok()["recipient"], alice.key);
}
