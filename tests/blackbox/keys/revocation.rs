//! Tests that no node stores envelopes from or to a revoked API key after the revocation command has returned.

use std::{
    collections::BTreeSet,
    sync::{
        Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread,
};

use serde_json::json;

use crate::support::{
    Client, Database, Identity, Receiver, Server, WebhookRequest, on_both, text, wait_until,
};

on_both!(
    the_handle_of_a_revoked_key_moves_to_the_next_key_of_its_account,
    a_revoked_key_is_rejected_on_every_node_under_load,
    only_the_record_of_a_revoked_key_remains,
);

fn a_revoked_key_is_rejected_on_every_node_under_load(database: &Database) {
    let nodes = database.serve_on_every_node();
    let client = nodes[0].client();
    let (of_mallory, of_bob) = (Receiver::start(), Receiver::start());
    let (mallory, bob) = (client.new_identity(), client.new_identity());
    client.register(&mallory, &of_mallory.url);
    client.register(&bob, &of_bob.url);
    for identity in [&mallory, &bob] {
        database.set_enterprise(&identity.key, [100_000, 100_000, 100_000, 10_000]);
    }
    let load = Load::default();
    let stored = || {
        let key = &mallory.key;
        database.count(&format!("envelopes WHERE sender = '{key}' OR recipient = '{key}'"))
    };
    let at_return = thread::scope(|scope| {
        for node in nodes.iter().chain(&nodes) {
            scope.spawn(|| load.send(node.client(), &mallory, &bob));
            scope.spawn(|| load.send(node.client(), &bob, &mallory));
        }
        wait_until("enough envelopes are sent", || load.count() >= 60);
        database.operate(&["key", "revoke", &mallory.key]);
        load.is_revoked.store(true, Ordering::SeqCst);
        let at_return = stored();
        let refused = load.refused.load(Ordering::SeqCst);
        wait_until("enough sends are rejected", || {
            load.refused.load(Ordering::SeqCst) >= refused + 60
        });
        load.is_over.store(true, Ordering::SeqCst);
        at_return
    });
    assert_eq!(stored(), at_return, "nothing is stored after the command has returned");
    let acknowledged = load.acknowledged.into_inner().unwrap();
    assert_eq!(
        usize::try_from(at_return),
        Ok(acknowledged.len()),
        "each stored envelope was acknowledged"
    );

    // Envelopes sent before are delivered and open. No others exist.
    let sent: BTreeSet<String> = acknowledged
        .iter()
        .filter(|(from, _)| *from == mallory.key)
        .map(|(_, id)| id.clone())
        .collect();
    let delivered =
        || -> BTreeSet<String> { of_bob.requests().iter().map(WebhookRequest::id).collect() };
    wait_until("all sent envelopes are delivered", || delivered().len() >= sent.len());
    assert_eq!(delivered(), sent);
    for id in sent.iter().take(5) {
        client.open(&bob, id).ok();
    }
    // Deliveries to the key are dropped with its webhooks.
    let key = &mallory.key;
    assert_eq!(database.count(&format!("webhooks WHERE api_key_id = '{key}'")), 0);
    let pending = "deliveries d JOIN envelopes e ON e.id = d.envelope_id";
    assert_eq!(database.count(&format!("{pending} WHERE e.recipient = '{key}'")), 0);
    let ids: BTreeSet<&String> = acknowledged.iter().map(|(_, id)| id).collect();
    assert!(of_mallory.requests().iter().all(|request| ids.contains(&request.id())));
}

fn only_the_record_of_a_revoked_key_remains(database: &Database) {
    let nodes = database.serve_on_every_node();
    let client = nodes[0].client();
    let receiver = Receiver::start();
    let (alice, bob) = (client.new_identity(), client.new_identity_with_handle("bob"));
    let webhook = client.register(&bob, &receiver.url);
    let mut envelopes = Vec::new();
    for node in &nodes {
        envelopes.push(text(&node.send(&alice, "bob", "x").ok(), "envelope_id"));
    }
    client.open(&bob, &envelopes[0]).ok();
    let delivered = receiver.await_requests(nodes.len()).len();
    let revoked = database.operate(&["key", "revoke", &bob.key]);
    assert_eq!((&revoked["status"], &revoked["registrations"]), (&json!("revoked"), &json!(1)));
    for node in &nodes {
        let client = node.client();
        for id in &envelopes {
            client.open(&bob, id).refused(403, "KEY_INACTIVE");
        }
        let problem = client.status(&bob).refused(403, "KEY_INACTIVE");
        assert!(text(&problem, "detail").contains("activate a new one"), "{problem}");
        for body in [
            json!({"action": "list"}),
            json!({"action": "redeliver", "webhook_id": webhook["webhook_id"], "envelope_id": "x"}),
        ] {
            client.manage(&bob, &body).refused(403, "KEY_INACTIVE");
        }
        for to in [bob.key.as_str(), "bob"] {
            let response = client.send(&alice, to, "x");
            assert_eq!(response.refused(403, "KEY_INACTIVE")["field"], "to", "{to}");
        }
    }
    let shown = database.operate(&["key", "show", &bob.key]);
    assert_eq!((&shown["did"], &shown["account_id"]), (&json!(bob.did), &json!(bob.account)));
    // The session belongs to the account and stays valid for a new key.
    let fresh = client.sibling(&bob);
    assert_eq!(client.status(&fresh).ok()["webhooks"], 0);
    assert_ne!(fresh.did, bob.did);
    client.open(&fresh, &envelopes[0]).refused(404, "ENVELOPE_NOT_FOUND");
    assert_eq!(receiver.requests().len(), delivered);
}

fn the_handle_of_a_revoked_key_moves_to_the_next_key_of_its_account(database: &Database) {
    let nodes = database.serve_on_every_node();
    let client = nodes[0].client();
    let (alice, bob) = (client.new_identity(), client.new_identity_with_handle("bob"));
    for node in &nodes {
        assert_eq!(node.send(&alice, "bob", "x").ok()["recipient"], bob.key);
    }
    database.operate(&["key", "revoke", &bob.key]);
    let body = json!({"label": "a", "handle": "Bob"});
    let take = |client: &Client, identity: &Identity| {
        client.post("/v1/did/activate").token(&identity.token).json(&body).response()
    };
    client.activate(&body).refused(409, "HANDLE_TAKEN");
    take(client, &alice).refused(409, "HANDLE_TAKEN");
    let taken = take(client, &bob).ok();
    assert_eq!(taken["handle"], "bob");
    assert_ne!(taken["api_key_id"], bob.key);
    take(client, &bob).refused(409, "HANDLE_TAKEN");
    for client in nodes.iter().map(Server::client) {
        let sent = client.send(&alice, "bob", "for the new one").ok();
        assert_eq!(sent["recipient"], taken["api_key_id"]);
        let new = Identity { key: text(&taken, "api_key_id"), ..bob.clone() };
        let opened = client.open(&new, &text(&sent, "envelope_id")).ok();
        assert_eq!(opened["message"], "for the new one");
    }
}

/// Concurrent sends for a test. Senders send until `is_over` is set, and check that a revoked key cannot send.
#[derive(Default)]
struct Load {
    is_revoked: AtomicBool,
    is_over: AtomicBool,
    /// The sender and the envelope id of each acknowledged send.
    acknowledged: Mutex<Vec<(String, String)>>,
    refused: AtomicUsize,
}

impl Load {
    fn send(&self, client: &Client, from: &Identity, to: &Identity) {
        while !self.is_over.load(Ordering::SeqCst) {
            let was_revoked = self.is_revoked.load(Ordering::SeqCst);
            let response = client.send(from, &to.key, "x");
            if response.status == 200 {
                assert!(!was_revoked, "a send was accepted that began after the command returned");
                let id = text(&response.ok(), "envelope_id");
                self.acknowledged.lock().unwrap().push((from.key.clone(), id));
            } else {
                response.refused(403, "KEY_INACTIVE");
                self.refused.fetch_add(1, Ordering::SeqCst);
            }
        }
    }

    fn count(&self) -> usize {
        self.acknowledged.lock().unwrap().len()
    }
}
