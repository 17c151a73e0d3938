//! Tests of webhooks from registration to deletion: visible fields, deliveries, and ownership.

use serde_json::{Value, json};

use crate::support::{Client, Database, Identity, Receiver, has, on_both, text};

on_both!(
    a_deleted_webhook_gets_no_more_requests,
    a_webhook_belongs_to_its_key_alone,
    every_webhook_gets_its_own_delivery,
    the_list_shows_all_fields_except_secrets,
);

fn the_list_shows_all_fields_except_secrets(database: &Database) {
    let (server, receiver) = (database.serve(), Receiver::start());
    let bob = server.new_identity();
    assert_eq!(list(&server, &bob), json!({"webhooks": []}));
    let first = server.register(&bob, &receiver.url);
    let twice = json!({"url": receiver.url, "events": ["envelope.received", "envelope.received"]});
    let second = server.act(&bob, "/v1/webhooks/register", &twice).ok();
    assert_ne!(first["secret"], second["secret"]);
    let listed = list(&server, &bob);
    assert_eq!(listed["webhooks"].as_array().unwrap().len(), 2);
    for (shown, registered) in listed["webhooks"].as_array().unwrap().iter().zip([&first, &second])
    {
        for name in ["webhook_id", "api_key_id", "url", "events", "status", "created_at"] {
            assert_eq!(shown[name], registered[name], "{name}");
        }
        assert_eq!(shown["status"], "enabled");
        assert_eq!(shown["events"], json!(["envelope.received"]));
        assert_eq!(shown["api_key_id"], bob.key);
        assert!(text(shown, "webhook_id").starts_with("wh_"));
        has(shown, &json!({"last_success_at": null, "last_failure": null}));
        assert!(!shown.to_string().contains("secret") && !shown.to_string().contains("whsec_"));
    }
}

fn every_webhook_gets_its_own_delivery(database: &Database) {
    let (server, receivers) = (database.serve(), [Receiver::start(), Receiver::start()]);
    let (alice, bob) = (server.new_identity(), server.new_identity());
    let secrets =
        receivers.each_ref().map(|receiver| text(&server.register(&bob, &receiver.url), "secret"));
    let sent = server.send(&alice, &bob.key, "x").ok();
    for (receiver, secret) in receivers.iter().zip(&secrets) {
        let request = receiver.await_requests(1).remove(0);
        request.verify(secret);
        assert_eq!(request.id(), text(&sent, "envelope_id"));
    }
    let foreign = &receivers[0].requests()[0];
    let webhook = standardwebhooks::Webhook::new(&secrets[1]).unwrap();
    assert!(webhook.verify(&foreign.body, &foreign.headers).is_err());
}

fn a_deleted_webhook_gets_no_more_requests(database: &Database) {
    let nodes = database.serve_on_every_node();
    let (client, other) = (nodes[0].client(), nodes[nodes.len() - 1].client());
    let (kept, deleted) = (Receiver::start(), Receiver::start());
    let (alice, bob) = (client.new_identity(), client.new_identity());
    client.register(&bob, &kept.url);
    let id = text(&client.register(&bob, &deleted.url), "webhook_id");
    other.send(&alice, &bob.key, "x").ok();
    deleted.await_requests(1);
    let delete = json!({"action": "delete", "webhook_id": id});
    let response = client.manage(&bob, &delete).ok();
    assert_eq!((&response["webhook_id"], &response["deleted"]), (&json!(id), &json!(true)));
    client.manage(&bob, &delete).refused(404, "WEBHOOK_NOT_FOUND");
    for _ in 0..3 {
        other.send(&alice, &bob.key, "x").ok();
    }
    kept.await_requests(4);
    assert_eq!(deleted.requests().len(), 1);
    assert_eq!(list(client, &bob)["webhooks"].as_array().unwrap().len(), 1);
}

fn a_webhook_belongs_to_its_key_alone(database: &Database) {
    let (server, receiver) = (database.serve(), Receiver::start());
    let (bob, eve) = (server.new_identity(), server.new_identity());
    let sibling = server.sibling(&bob);
    let id = text(&server.register(&bob, &receiver.url), "webhook_id");
    for identity in [&eve, &sibling] {
        assert_eq!(list(&server, identity), json!({"webhooks": []}));
        let delete = json!({"action": "delete", "webhook_id": id});
        server.manage(identity, &delete).refused(404, "WEBHOOK_NOT_FOUND");
    }
    // Envelopes of other keys cause no delivery.
    server.send(&bob, &sibling.key, "x").ok();
    let sent = server.send(&eve, &bob.key, "x").ok();
    assert_eq!(receiver.await_requests(1)[0].id(), text(&sent, "envelope_id"));
}

fn list(client: &Client, identity: &Identity) -> Value {
    client.manage(identity, &json!({"action": "list"})).ok()
}
