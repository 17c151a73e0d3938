//! Tests of key states that an operator changes while servers run. The module `revocation` tests revocation.

use serde_json::json;

use crate::support::{Client, Database, Identity, Receiver, Response, Server, on_both, text};

on_both!(
    a_deactivated_key_is_rejected_until_its_reactivation,
    a_rotating_key_is_rejected_until_the_rotation_ends,
    a_rotated_key_opens_envelopes_sealed_before_and_after,
    invalid_state_transitions_are_rejected,
);

fn a_deactivated_key_is_rejected_until_its_reactivation(database: &Database) {
    let nodes = database.serve_on_every_node();
    let clients: Vec<&Client> = nodes.iter().map(Server::client).collect();
    let client = clients[0];
    let (alice, bob) = (client.new_identity(), client.new_identity_with_handle("bob"));
    let sibling = client.sibling(&bob);
    let receiver = Receiver::start();
    client.register(&bob, &receiver.url);
    // Every node has both keys in its cache.
    let before: Vec<String> = clients
        .iter()
        .map(|client| text(&client.send(&alice, "bob", "before").ok(), "envelope_id"))
        .collect();
    for client in &clients {
        client.send(&bob, &alice.key, "x").ok();
    }

    let shown = database.operate(&["key", "deactivate", &bob.key]);
    assert_eq!((&shown["api_key_id"], &shown["status"]), (&json!(bob.key), &json!("deactivated")));
    for client in &clients {
        for response in use_every_endpoint(client, &bob) {
            let problem = response.refused(403, "KEY_INACTIVE");
            assert_eq!(problem.get("field"), None);
            assert!(text(&problem, "detail").contains("deactivated"), "{problem}");
        }
        for to in [bob.key.as_str(), "bob", "@BOB"] {
            let problem = client.send(&alice, to, "x").refused(403, "KEY_INACTIVE");
            assert_eq!(problem["field"], "to");
        }
        // The account keeps its other key and its session.
        client.status(&sibling).ok();
    }

    let shown = database.operate(&["key", "reactivate", &bob.key]);
    assert_eq!(shown["status"], "active");
    for client in &clients {
        client.send(&alice, "bob", "after").ok();
        assert_eq!(client.status(&bob).ok()["webhooks"], 1);
    }
    for envelope in before {
        assert_eq!(client.open(&bob, &envelope).ok()["message"], "before");
    }
    receiver.await_requests(2 * nodes.len());
}

fn a_rotated_key_opens_envelopes_sealed_before_and_after(database: &Database) {
    let nodes = database.serve_on_every_node();
    let client = nodes[0].client();
    let (alice, bob) = (client.new_identity(), client.new_identity());
    for identity in [&alice, &bob] {
        database.set_enterprise(&identity.key, [1000, 1000, 1000, 1000]);
    }
    let mut envelopes = Vec::new();
    for round in 0..3 {
        for node in &nodes {
            for (from, to) in [(&alice, &bob), (&bob, &alice)] {
                let message = format!("round {round}");
                let sent = node.send(from, &to.key, &message).ok();
                envelopes.push((to, text(&sent, "envelope_id"), message));
            }
        }
        let shown = database.operate(&["key", "rotate", &bob.key]);
        assert_eq!((&shown["status"], &shown["did"]), (&json!("active"), &json!(bob.did)));
    }
    for node in &nodes {
        for (to, id, message) in &envelopes {
            assert_eq!(node.open(to, id).ok()["message"], *message);
        }
        assert_eq!(node.status(&bob).ok()["did"], bob.did);
    }
}

/// Tests the state in which an interrupted rotation leaves the key after its first step.
fn a_rotating_key_is_rejected_until_the_rotation_ends(database: &Database) {
    let server = database.serve();
    let (alice, bob) = (server.new_identity(), server.new_identity());
    let envelope = text(&server.send(&alice, &bob.key, "before").ok(), "envelope_id");
    let rotating = format!("UPDATE api_keys SET status = 'rotating' WHERE id = '{}'", bob.key);
    database.by_hand(&rotating);
    for response in use_every_endpoint(&server, &bob) {
        let problem = response.refused(403, "KEY_INACTIVE");
        assert!(text(&problem, "detail").contains("temporary"), "{problem}");
    }
    let problem = server.send(&alice, &bob.key, "x").refused(403, "KEY_INACTIVE");
    assert_eq!(problem["field"], "to");
    assert_eq!(database.operate(&["key", "show", &bob.key])["status"], "rotating");

    assert_eq!(database.operate(&["key", "rotate", &bob.key])["status"], "active");
    server.send(&alice, &bob.key, "after").ok();
    assert_eq!(server.open(&bob, &envelope).ok()["message"], "before");
}

fn invalid_state_transitions_are_rejected(database: &Database) {
    let server = database.serve();
    let alice = server.new_identity();
    let key = alice.key.as_str();
    let refused = |verb: &str| database.operate_refused(1, &["key", verb, key]);
    refused("reactivate");
    database.operate(&["key", "deactivate", key]);
    refused("deactivate");
    refused("rotate");
    database.operate(&["key", "revoke", key]);
    for verb in ["reactivate", "deactivate", "rotate", "revoke"] {
        assert!(refused(verb).contains("revoked"), "{verb}");
    }
    assert_eq!(database.operate(&["key", "show", key])["status"], "revoked");
    let trail = database.operate(&["audit", "list"]);
    assert_eq!(trail["entries"].as_array().unwrap().len(), 2, "{trail}");
}

/// Calls each endpoint that requires a key.
fn use_every_endpoint(client: &Client, identity: &Identity) -> [Response; 5] {
    [
        ("/v1/did/status", json!({})),
        ("/v1/channel/send", json!({"to": identity.key, "message": "x"})),
        ("/v1/channel/open", json!({"envelope_id": "env_x"})),
        ("/v1/webhooks/register", json!({"url": "x", "events": ["envelope.received"]})),
        ("/v1/webhooks", json!({"action": "list"})),
    ]
    .map(|(path, body)| client.act(identity, path, &body))
}
