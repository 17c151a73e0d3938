//! Tests of the delivery log, which the owner of a webhook can read.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::support::{
    Client, Database, Identity, Reaction, Receiver, SOON, eventually, on_both, on_embedded, text,
    wait_until,
};

on_both!(
    a_failed_attempt_shows_the_next_attempt_and_the_last_shows_success,
    cursors_return_every_entry_exactly_once,
    a_deleted_webhook_has_no_delivery_log,
);
on_embedded!(invalid_requests_name_the_field);

fn a_failed_attempt_shows_the_next_attempt_and_the_last_shows_success(database: &Database) {
    let server = database.serve_with(&["--webhook-retry-schedule", "2s"]);
    let receiver = Receiver::reacting(|nth| Reaction::Status(if nth == 0 { 500 } else { 200 }));
    let (alice, bob) = database.busy_pair(&server);
    let webhook_id = text(&server.register(&bob, &receiver.url), "webhook_id");
    let sent = server.send(&alice, &bob.key, "x").ok();
    let failed = await_entry(&server, &bob, &webhook_id, "failed");
    assert_eq!(failed["envelope_id"], sent["envelope_id"]);
    assert_eq!((&failed["attempt"], &failed["outcome"]), (&json!(1), &json!("failed")));
    assert_eq!((&failed["status_code"], &failed["error"]), (&json!(500), &json!("http_status")));
    assert!(failed["duration_ms"].is_u64(), "{failed}");
    assert!(text(&failed, "next_attempt_at") > text(&failed, "at"), "{failed}");

    let succeeded = await_entry(&server, &bob, &webhook_id, "succeeded");
    assert_eq!((&succeeded["attempt"], &succeeded["status_code"]), (&json!(2), &json!(200)));
    assert_eq!((&succeeded["error"], &succeeded["next_attempt_at"]), (&Value::Null, &Value::Null));
    assert_eq!(receiver.requests().len(), 2);
    let all = deliveries(&server, &bob, &json!({"webhook_id": webhook_id}));
    assert_eq!(all, json!({"deliveries": [succeeded, failed], "next_cursor": null}));
    let members: BTreeSet<_> = succeeded.as_object().unwrap().keys().map(String::as_str).collect();
    let promised = [
        "attempt",
        "at",
        "duration_ms",
        "envelope_id",
        "error",
        "error_detail",
        "next_attempt_at",
        "outcome",
        "response",
        "status_code",
    ];
    assert_eq!(members, BTreeSet::from(promised));
}

fn cursors_return_every_entry_exactly_once(database: &Database) {
    let server = database.serve_with(&["--webhook-retry-schedule", "10ms,1h"]);
    let receiver = Receiver::reacting(|nth| Reaction::Status(if nth % 2 == 0 { 500 } else { 204 }));
    let (alice, bob) = database.busy_pair(&server);
    let webhook_id = text(&server.register(&bob, &receiver.url), "webhook_id");
    let ask = |more: &Value| {
        let mut body = json!({"webhook_id": webhook_id});
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        deliveries(&server, &bob, &body)
    };
    for count in 1..=6_u64 {
        server.send(&alice, &bob.key, "x").ok();
        wait_until("both attempts are logged", || {
            let all = ask(&json!({"limit": 100}));
            let made = all["deliveries"].as_array().unwrap().iter();
            let made = made.filter(|it| it["outcome"] != "pending").count();
            made == usize::try_from(count).unwrap() * 2
        });
    }
    let whole = ask(&json!({"limit": 100}))["deliveries"].clone();
    let whole = whole.as_array().unwrap();
    for limit in [1, 5, 12] {
        let (mut walked, mut cursor) = (Vec::new(), json!(null));
        loop {
            let page = ask(&json!({"limit": limit, "cursor": cursor}));
            walked.extend(page["deliveries"].as_array().unwrap().clone());
            cursor = page["next_cursor"].clone();
            if cursor.is_null() {
                break;
            }
        }
        assert_eq!(&walked, whole, "in pages of {limit}");
    }
    let succeeded = ask(&json!({"state": "succeeded", "limit": 2}));
    assert_eq!(succeeded["deliveries"].as_array().unwrap().len(), 2);
    assert!(succeeded["next_cursor"].is_string());
    let elsewhere = json!({
        "action": "deliveries", "webhook_id": webhook_id, "cursor": succeeded["next_cursor"],
    });
    let refused = server.manage(&bob, &elsewhere).refused(400, "INVALID_FIELD");
    assert_eq!(refused["field"], "cursor");
}

fn invalid_requests_name_the_field(database: &Database) {
    let (server, receiver) = (database.serve(), Receiver::start());
    let (_, bob) = database.busy_pair(&server);
    let id = text(&server.register(&bob, &receiver.url), "webhook_id");
    let (missing, invalid) = ("MISSING_FIELD", "INVALID_FIELD");
    let (day, before) = ("2026-01-02T00:00:00Z", "2026-01-01T00:00:00Z");
    for (action, members, code, field) in [
        ("deliveries", json!({}), missing, "webhook_id"),
        ("enable", json!({"webhook_id": ""}), missing, "webhook_id"),
        ("rotate_secret", json!({}), missing, "webhook_id"),
        ("redeliver", json!({"envelope_id": "env_x"}), missing, "webhook_id"),
        ("redeliver", json!({"webhook_id": id}), missing, "envelope_id"),
        ("recover", json!({"webhook_id": id}), missing, "since"),
        ("explode", json!({}), invalid, "action"),
        ("deliveries", json!({"webhook_id": id, "limit": 0}), invalid, "limit"),
        ("deliveries", json!({"webhook_id": id, "limit": 101}), invalid, "limit"),
        ("deliveries", json!({"webhook_id": id, "limit": 1.5}), invalid, "limit"),
        ("deliveries", json!({"webhook_id": id, "limit": "5"}), invalid, "limit"),
        ("deliveries", json!({"webhook_id": id, "state": "lost"}), invalid, "state"),
        ("deliveries", json!({"webhook_id": id, "cursor": "x"}), invalid, "cursor"),
        ("deliveries", json!({"webhook_id": id, "cursor": 7}), invalid, "cursor"),
        ("recover", json!({"webhook_id": id, "since": "today"}), invalid, "since"),
        ("recover", json!({"webhook_id": id, "since": day, "until": before}), invalid, "until"),
        ("recover", json!({"webhook_id": id, "since": day, "dry_run": "yes"}), invalid, "dry_run"),
    ] {
        let mut body = members;
        body["action"] = json!(action);
        let problem = server.manage(&bob, &body).refused(400, code);
        assert_eq!(problem["field"], field, "{body}");
        if field == "action" {
            for action in ["delete", "deliveries", "enable", "list", "recover", "rotate_secret"] {
                assert!(text(&problem, "detail").contains(action), "{problem}");
            }
        }
    }
    let redeliver = json!({"action": "redeliver", "webhook_id": id, "envelope_id": "env_x"});
    server.manage(&bob, &redeliver).refused(404, "ENVELOPE_NOT_FOUND");
}

fn a_deleted_webhook_has_no_delivery_log(database: &Database) {
    let (server, receiver) = (database.serve(), Receiver::start());
    let (alice, bob) = database.busy_pair(&server);
    let id = text(&server.register(&bob, &receiver.url), "webhook_id");
    server.send(&alice, &bob.key, "x").ok();
    await_entry(&server, &bob, &id, "succeeded");
    server.manage(&bob, &json!({"action": "delete", "webhook_id": id})).ok();
    let ask = json!({"action": "deliveries", "webhook_id": id});
    server.manage(&bob, &ask).refused(404, "WEBHOOK_NOT_FOUND");
}

fn deliveries(client: &Client, identity: &Identity, asked: &Value) -> Value {
    let mut body = asked.clone();
    body["action"] = json!("deliveries");
    client.manage(identity, &body).ok()
}

/// Waits until the delivery log of the webhook has an entry in this state. Returns the newest one.
fn await_entry(client: &Client, identity: &Identity, webhook_id: &str, state: &str) -> Value {
    let asked = json!({"webhook_id": webhook_id, "state": state});
    eventually(state, SOON, || {
        deliveries(client, identity, &asked)["deliveries"].as_array().unwrap().first().cloned()
    })
}
