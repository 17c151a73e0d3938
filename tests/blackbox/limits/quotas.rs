//! Tests of the limits on the number of keys and webhooks, and of the uniqueness of handles.

use std::thread;

use serde_json::json;

use crate::support::{Database, Identity, Receiver, on_both};

on_both!(
    a_handle_belongs_to_one_key,
    a_key_has_at_most_sixteen_webhooks,
    the_number_of_keys_of_an_account_is_limited_by_a_setting,
    one_of_many_concurrent_activations_gets_the_handle,
    the_limit_on_keys_holds_under_concurrent_activations,
);

fn the_number_of_keys_of_an_account_is_limited_by_a_setting(database: &Database) {
    let server = database.serve_with(&["--max-keys-per-account", "2"]);
    let client = server.client();
    let alice = client.new_identity();
    client.sibling(&alice);
    let activation =
        client.post("/v1/did/activate").token(&alice.token).json(&json!({"label": "a"}));
    let problem = activation.response().refused(403, "QUOTA_EXCEEDED");
    assert!(problem["detail"].as_str().unwrap().contains('2'), "{problem}");
    client.new_identity();
}

fn the_limit_on_keys_holds_under_concurrent_activations(database: &Database) {
    let server = database.serve_with(&["--max-keys-per-account", "3"]);
    let client = server.client();
    let alice = client.new_identity();
    let activate = || {
        let request =
            client.post("/v1/did/activate").token(&alice.token).json(&json!({"label": "a"}));
        request.response()
    };
    let responses = thread::scope(|scope| {
        let threads = [(); 8].map(|()| scope.spawn(activate));
        threads.map(|thread| thread.join().unwrap())
    });
    assert_eq!(responses.iter().filter(|response| response.status == 200).count(), 2);
    for refused in responses.iter().filter(|response| response.status != 200) {
        refused.refused(403, "QUOTA_EXCEEDED");
    }
}

fn a_key_has_at_most_sixteen_webhooks(database: &Database) {
    let server = database.serve();
    let (client, receiver) = (server.client(), Receiver::start());
    let alice = client.new_identity();
    let sibling = client.sibling(&alice);
    let first = client.register(&alice, &receiver.url);
    for _ in 1..16 {
        client.register(&alice, &receiver.url);
    }
    let register = |identity: &Identity| {
        let body = json!({"url": receiver.url, "events": ["envelope.received"]});
        client.act(identity, "/v1/webhooks/register", &body)
    };
    let problem = register(&alice).refused(403, "QUOTA_EXCEEDED");
    assert!(problem["detail"].as_str().unwrap().contains("16"), "{problem}");
    register(&sibling).ok();
    client.manage(&alice, &json!({"action": "delete", "webhook_id": first["webhook_id"]})).ok();
    register(&alice).ok();
    assert_eq!(client.status(&alice).ok()["webhooks"], 16);
}

fn a_handle_belongs_to_one_key(database: &Database) {
    let server = database.serve();
    let client = server.client();
    let (alice, bob) = (client.new_identity_with_handle("alice"), client.new_identity());
    let take = |handle: &str, identity: Option<&Identity>| {
        let request =
            client.post("/v1/did/activate").json(&json!({"label": "a", "handle": handle}));
        match identity {
            Some(identity) => request.token(&identity.token).response(),
            None => request.response(),
        }
    };
    for handle in ["alice", "ALICE", "Alice"] {
        for identity in [None, Some(&bob), Some(&alice)] {
            take(handle, identity).refused(409, "HANDLE_TAKEN");
        }
    }
    take("alice2", None).ok();
    assert_eq!(client.send(&bob, "alice", "x").ok()["recipient"], alice.key);
    let unnamed = client.activate(&json!({"label": "a", "handle": null})).ok();
    assert_eq!(unnamed["handle"], json!(null));
}

fn one_of_many_concurrent_activations_gets_the_handle(database: &Database) {
    let server = database.serve();
    let client = server.client();
    let activate = || client.activate(&json!({"label": "a", "handle": "wanted"}));
    let responses = thread::scope(|scope| {
        let threads = [(); 8].map(|()| scope.spawn(activate));
        threads.map(|thread| thread.join().unwrap())
    });
    assert_eq!(responses.iter().filter(|response| response.status == 200).count(), 1);
    for refused in responses.iter().filter(|response| response.status != 200) {
        refused.refused(409, "HANDLE_TAKEN");
    }
}
