//! Tests the list of the envelopes that a key sent.

use serde_json::{Value, json};

use crate::support::{Client, Database, Identity, Server, on_both, on_embedded, text, wait_until};

on_both!(
    a_sender_lists_only_its_own_envelopes,
    filters_and_pages_select_envelopes,
    an_expired_envelope_has_no_receipt_and_is_neither_listed_nor_replied_to,
);
on_embedded!(an_invalid_filter_is_refused);

fn list(client: &Client, identity: &Identity, body: &Value) -> Value {
    client.act(identity, "/v1/channel/list", body).ok()
}

fn ids(page: &Value) -> Vec<String> {
    page["envelopes"].as_array().unwrap().iter().map(|it| text(it, "envelope_id")).collect()
}

fn send(client: &Client, from: &Identity, to: &str, thread: &str) -> Value {
    let body = json!({"to": to, "message": "x", "thread": thread});
    client.act(from, "/v1/channel/send", &body).ok()
}

fn a_sender_lists_only_its_own_envelopes(database: &Database) {
    let server = database.serve();
    let (alice, bob) = (server.new_identity(), server.new_identity());
    let sent = send(&server, &alice, &bob.key, "A");
    send(&server, &bob, &alice.key, "A");
    let page = list(&server, &alice, &json!({}));
    let expected = json!({
        "envelopes": [{
            "envelope_id": sent["envelope_id"],
            "recipient": bob.key,
            "sent_at": sent["metadata"]["timestamp"],
            "state": "waiting",
            "thread": "A",
            "reply_to": null,
            "type": null,
        }],
        "next_cursor": null,
    });
    assert_eq!(page, expected);
    server.act(&bob, "/v1/did/policy", &json!({"receipts": "opened"})).ok();
    server.open(&bob, &text(&sent, "envelope_id")).ok();
    assert_eq!(list(&server, &alice, &json!({}))["envelopes"][0]["state"], "opened");
    server.act(&bob, "/v1/did/policy", &json!({"receipts": "none"})).ok();
    assert_eq!(list(&server, &alice, &json!({}))["envelopes"][0]["state"], "sent");
}

fn filters_and_pages_select_envelopes(database: &Database) {
    let server = database.serve();
    let (alice, bob, carol) =
        (server.new_identity(), server.new_identity_with_handle("bob"), server.new_identity());
    database.set_enterprise(&alice.key, [1000, 1000, 1000, 1000]);
    let mut sent: Vec<Value> = (0..6)
        .map(|n| {
            let to = if n % 2 == 0 { &bob.key } else { &carol.key };
            send(&server, &alice, to, if n < 3 { "A" } else { "B" })
        })
        .collect();
    sent.reverse();
    let id = |n: usize| text(&sent[n], "envelope_id");
    let at = |n: usize| sent[n]["metadata"]["timestamp"].clone();
    for (body, expected) in [
        (json!({}), vec![0, 1, 2, 3, 4, 5]),
        (json!({"recipient": "@Bob"}), vec![1, 3, 5]),
        (json!({"recipient": carol.key}), vec![0, 2, 4]),
        (json!({"recipient": alice.key}), vec![]),
        (json!({"thread": "A"}), vec![3, 4, 5]),
        (json!({"thread": "A", "recipient": "bob"}), vec![3, 5]),
        (json!({"thread": null, "since": at(1)}), vec![0, 1]),
        (json!({"since": at(4), "until": at(1)}), vec![2, 3, 4]),
    ] {
        let found = ids(&list(&server, &alice, &body));
        assert_eq!(found, expected.into_iter().map(id).collect::<Vec<_>>(), "{body}");
    }
    let (mut found, mut body) = (Vec::new(), json!({"limit": 4}));
    loop {
        let page = list(&server, &alice, &body);
        found.push(ids(&page));
        if page["next_cursor"].is_null() {
            break;
        }
        body["cursor"] = page["next_cursor"].clone();
    }
    assert_eq!(found, [(0..4).map(id).collect::<Vec<_>>(), (4..6).map(id).collect()]);
}

fn an_invalid_filter_is_refused(database: &Database) {
    let server = database.serve();
    let alice = server.new_identity();
    database.set_enterprise(&alice.key, [1000, 1000, 1000, 1000]);
    let unknown = "ak_01h455vb4pex5vsknk084sn02q";
    for (body, status, code, field) in [
        (json!({"recipient": unknown}), 404, "KEY_NOT_FOUND", "recipient"),
        (json!({"recipient": "nobody-has-this"}), 404, "KEY_NOT_FOUND", "recipient"),
        (json!({"recipient": ""}), 404, "KEY_NOT_FOUND", "recipient"),
        (json!({"recipient": alice.did}), 400, "RAW_DID_REJECTED", "recipient"),
        (json!({"thread": ""}), 400, "INVALID_FIELD", "thread"),
        (json!({"since": "yesterday"}), 400, "INVALID_FIELD", "since"),
        (json!({"since": "2026-02-02", "until": "2026-02-01"}), 400, "INVALID_FIELD", "until"),
        (json!({"limit": 101}), 400, "INVALID_FIELD", "limit"),
        (json!({"cursor": "x"}), 400, "INVALID_FIELD", "cursor"),
        (json!({"to": alice.key}), 400, "INVALID_FIELD", "to"),
    ] {
        let refused = server.act(&alice, "/v1/channel/list", &body).refused(status, code);
        assert_eq!(refused["field"], field, "{body}");
    }
}

#[test]
fn tokens_to_read_and_to_send_may_list() {
    let server = Server::shared();
    let alice = server.new_identity();
    let list = |scope| {
        let token = server.token_with(&alice, &[scope]);
        server.post("/v1/channel/list").token(&token).json(&json!({})).response()
    };
    for scope in ["read", "send"] {
        list(scope).ok();
    }
    for scope in ["open", "webhooks"] {
        list(scope).refused(403, "INSUFFICIENT_SCOPE");
    }
}

/// Housekeeping has not deleted the envelope yet.
fn an_expired_envelope_has_no_receipt_and_is_neither_listed_nor_replied_to(database: &Database) {
    let server = database.serve();
    let (alice, bob) = (server.new_identity(), server.new_identity());
    database.set_enterprise(&alice.key, [10_000, 10_000, 10_000, 10_000]);
    let sent = text(&send(&server, &alice, &bob.key, "A"), "envelope_id");
    server.stop();
    let server = database.serve_with(&["--retention", "1s"]);
    wait_until("the envelope expires", || ids(&list(&server, &alice, &json!({}))).is_empty());
    let reply = json!({"to": bob.key, "message": "x", "reply_to": sent});
    server.act(&alice, "/v1/channel/send", &reply).refused(404, "ENVELOPE_NOT_FOUND");
    let receipt = json!({"envelope_id": sent});
    server.act(&alice, "/v1/channel/receipt", &receipt).refused(404, "ENVELOPE_NOT_FOUND");
}
