//! Tests of receipts, with which a sender reads the state of an envelope.

use serde_json::{Value, json};

use crate::support::{
    Client, Database, Identity, Reaction, Receiver, Response, SOON, eventually, on_both, text,
};

on_both!(a_receipt_follows_the_envelope, a_receipt_shows_a_bounce, a_receipt_belongs_to_the_sender);

fn receipt(client: &Client, identity: &Identity, envelope: &str) -> Response {
    client.act(identity, "/v1/channel/receipt", &json!({"envelope_id": envelope}))
}

fn await_state(client: &Client, identity: &Identity, envelope: &str, state: &str) -> Value {
    eventually(state, SOON, || {
        let receipt = receipt(client, identity, envelope).ok();
        (receipt["state"] == state).then_some(receipt)
    })
}

fn a_receipt_follows_the_envelope(database: &Database) {
    let (server, receiver) = (database.serve(), Receiver::reacting(|_| Reaction::Hang));
    let (alice, bob) = (server.new_identity(), server.new_identity());
    database.set_enterprise(&alice.key, [10_000, 10_000, 10_000, 10_000]);
    let sent = server.send(&alice, &bob.key, "x").ok();
    let id = text(&sent, "envelope_id");
    let waiting = receipt(&server, &alice, &id).ok();
    assert_eq!(
        waiting,
        json!({
            "envelope_id": id,
            "recipient": bob.key,
            "sent_at": sent["metadata"]["timestamp"],
            "thread": null,
            "reply_to": null,
            "type": null,
            "state": "waiting",
            "notified_at": null,
            "opened_at": null,
        })
    );
    let hook = server.register(&bob, &receiver.url);
    receiver.await_requests(1);
    assert_eq!(receipt(&server, &alice, &id).ok()["state"], "sent");
    receiver.go_on();
    let notified = await_state(&server, &alice, &id, "notified");
    assert!(notified["notified_at"].is_string());
    server.open(&bob, &id).ok();
    let delete = json!({"action": "delete", "webhook_id": hook["webhook_id"]});
    server.manage(&bob, &delete).ok();
    assert_eq!(
        receipt(&server, &alice, &id).ok(),
        notified,
        "the default policy hides the opening"
    );
}

fn a_receipt_shows_a_bounce(database: &Database) {
    let (server, failing) = (
        database.serve_with(&["--webhook-retry-schedule", "10ms"]),
        Receiver::reacting(|_| Reaction::Status(500)),
    );
    let (alice, bob) = (server.new_identity(), server.new_identity());
    database.set_enterprise(&alice.key, [10_000, 10_000, 10_000, 10_000]);
    server.register(&bob, &failing.url);
    let id = text(&server.send(&alice, &bob.key, "x").ok(), "envelope_id");
    let bounced = await_state(&server, &alice, &id, "bounced");
    assert_eq!((&bounced["notified_at"], &bounced["opened_at"]), (&Value::Null, &Value::Null));
}

fn a_receipt_belongs_to_the_sender(database: &Database) {
    let server = database.serve();
    let (alice, bob) = (server.new_identity(), server.new_identity());
    let sibling = server.sibling(&alice);
    database.set_enterprise(&alice.key, [10_000, 10_000, 10_000, 10_000]);
    let id = text(&server.send(&alice, &bob.key, "x").ok(), "envelope_id");
    for other in [&bob, &sibling] {
        receipt(&server, other, &id).refused(404, "ENVELOPE_NOT_FOUND");
    }
    let unknown = "env_01h455vb4pex5vsknk084sn02q";
    for id in [unknown, "env_nonsense"] {
        receipt(&server, &alice, id).refused(404, "ENVELOPE_NOT_FOUND");
    }
    let nothing = server.act(&alice, "/v1/channel/receipt", &json!({}));
    nothing.refused(400, "MISSING_FIELD");
}
