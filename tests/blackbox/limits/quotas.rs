//! Caps that are no rates, and handles, of which there is one each.

use std::thread;

use serde_json::json;

use crate::support::{Database, Identity, Receiver, on_both};

on_both!(
    a_handle_belongs_to_one_key,
    a_key_has_sixteen_webhooks,
    an_account_has_as_many_keys_as_were_set,
    of_many_who_want_one_handle_at_once_one_gets_it,
    the_cap_on_keys_holds_when_all_come_at_once,
);

fn an_account_has_as_many_keys_as_were_set(database: &Database) {
    let server = database.serve_with(&["--max-keys-per-account", "2"]);
    let client = server.client();
    let alice = client.newcomer();
    client.sibling(&alice);
    let activation =
        client.post("/v1/did/activate").token(&alice.token).json(&json!({"label": "a"}));
    let problem = activation.answer().refused(403, "QUOTA_EXCEEDED");
    assert!(problem["detail"].as_str().unwrap().contains('2'), "{problem}");
    client.newcomer();
}

fn the_cap_on_keys_holds_when_all_come_at_once(database: &Database) {
    let server = database.serve_with(&["--max-keys-per-account", "3"]);
    let client = server.client();
    let alice = client.newcomer();
    let activate = || {
        let request =
            client.post("/v1/did/activate").token(&alice.token).json(&json!({"label": "a"}));
        request.answer()
    };
    let answers = thread::scope(|scope| {
        let threads = [(); 8].map(|()| scope.spawn(activate));
        threads.map(|thread| thread.join().unwrap())
    });
    assert_eq!(answers.iter().filter(|answer| answer.status == 200).count(), 2);
    for refused in answers.iter().filter(|answer| answer.status != 200) {
        refused.refused(403, "QUOTA_EXCEEDED");
    }
}

fn a_key_has_sixteen_webhooks(database: &Database) {
    let server = database.serve();
    let (client, receiver) = (server.client(), Receiver::start());
    let alice = client.newcomer();
    let sibling = client.sibling(&alice);
    let first = client.register(&alice, &receiver.url);
    for _ in 1..16 {
        client.register(&alice, &receiver.url);
    }
    let register = |who: &Identity| {
        let body = json!({"url": receiver.url, "events": ["envelope.received"]});
        client.act(who, "/v1/webhooks/register", &body)
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
    let (alice, bob) = (client.newcomer_named("alice"), client.newcomer());
    let take = |handle: &str, who: Option<&Identity>| {
        let request =
            client.post("/v1/did/activate").json(&json!({"label": "a", "handle": handle}));
        match who {
            Some(who) => request.token(&who.token).answer(),
            None => request.answer(),
        }
    };
    for handle in ["alice", "ALICE", "Alice"] {
        for who in [None, Some(&bob), Some(&alice)] {
            take(handle, who).refused(409, "HANDLE_TAKEN");
        }
    }
    take("alice2", None).ok();
    assert_eq!(client.send(&bob, "alice", "x").ok()["recipient"], alice.key);
    let unnamed = client.activate(&json!({"label": "a", "handle": null})).ok();
    assert_eq!(unnamed["handle"], json!(null));
}

fn of_many_who_want_one_handle_at_once_one_gets_it(database: &Database) {
    let server = database.serve();
    let client = server.client();
    let activate = || client.activate(&json!({"label": "a", "handle": "wanted"}));
    let answers = thread::scope(|scope| {
        let threads = [(); 8].map(|()| scope.spawn(activate));
        threads.map(|thread| thread.join().unwrap())
    });
    assert_eq!(answers.iter().filter(|answer| answer.status == 200).count(), 1);
    for refused in answers.iter().filter(|answer| answer.status != 200) {
        refused.refused(409, "HANDLE_TAKEN");
    }
}
