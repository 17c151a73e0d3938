//! Tests of sending exhausted and failed deliveries again, and of deliveries that wait until a disabled webhook is
//! enabled.

use serde_json::{Value, json};

use crate::support::{
    Client, Database, Identity, Reaction, Receiver, SOON, WebhookRequest, eventually, has, on_both,
    text,
};

on_both!(
    an_exhausted_delivery_can_be_redelivered,
    a_delivery_under_way_can_be_redelivered,
    a_delivery_under_way_can_be_recovered,
    failed_deliveries_since_a_time_are_counted_and_then_recovered,
    a_410_disables_the_webhook_and_enabling_it_sends_waiting_deliveries,
    a_webhook_is_disabled_after_five_days_of_failures,
);

fn an_exhausted_delivery_can_be_redelivered(database: &Database) {
    let server = database.serve_with(&["--webhook-retry-schedule", "10ms"]);
    let receiver = Receiver::reacting(|nth| Reaction::Status(if nth < 2 { 500 } else { 200 }));
    let (alice, bob) = database.busy_pair(&server);
    let webhook_id = text(&server.register(&bob, &receiver.url), "webhook_id");
    let envelope_id = text(&server.send(&alice, &bob.key, "x").ok(), "envelope_id");
    let last = await_entries(&server, &bob, &webhook_id, "exhausted", 1).remove(0);
    assert_eq!((&last["attempt"], &last["next_attempt_at"]), (&json!(2), &Value::Null));

    let again = json!({
        "action": "redeliver", "webhook_id": webhook_id, "envelope_id": envelope_id,
    });
    let expected =
        json!({"webhook_id": webhook_id, "envelope_id": envelope_id, "outcome": "pending"});
    assert_eq!(server.manage(&bob, &again).ok(), expected);
    assert_eq!(receiver.await_requests(3)[2].id(), envelope_id);
    let succeeded = await_entries(&server, &bob, &webhook_id, "succeeded", 1).remove(0);
    assert_eq!(succeeded["attempt"], 1, "the schedule starts again");

    server.manage(&bob, &again).ok();
    assert_eq!(
        receiver.await_requests(4)[3].id(),
        envelope_id,
        "successful deliveries can be redelivered too"
    );
    await_entries(&server, &bob, &webhook_id, "succeeded", 2);
    server.open(&bob, &envelope_id).ok();
}

/// The first request still waits for its response, or its outcome may not be stored yet.
fn a_delivery_under_way_can_be_redelivered(database: &Database) {
    let server = database.serve();
    let receiver = Receiver::reacting(|nth| match nth {
        0 => Reaction::Hang,
        _ => Reaction::Status(200),
    });
    let (alice, bob) = database.busy_pair(&server);
    let webhook_id = text(&server.register(&bob, &receiver.url), "webhook_id");
    let envelope_id = text(&server.send(&alice, &bob.key, "x").ok(), "envelope_id");
    receiver.await_requests(1);
    let again = json!({
        "action": "redeliver", "webhook_id": webhook_id, "envelope_id": envelope_id,
    });
    assert_eq!(server.manage(&bob, &again).ok()["outcome"], "pending");
    receiver.go_on();
    receiver.await_requests(2);
    server.manage(&bob, &again).ok();
    let requests = receiver.await_requests(3);
    assert!(requests.iter().all(|request| request.id() == envelope_id));
    let entries = await_entries(&server, &bob, &webhook_id, "succeeded", 3);
    assert!(entries.iter().all(|entry| entry["attempt"] == 1), "{entries:?}");
}

fn a_delivery_under_way_can_be_recovered(database: &Database) {
    let server = database.serve_with(&["--webhook-retry-schedule", "10ms,1h"]);
    let receiver = Receiver::reacting(|nth| match nth {
        0 => Reaction::Status(500),
        1 => Reaction::Close,
        _ => Reaction::Status(200),
    });
    let (alice, bob) = database.busy_pair(&server);
    let webhook_id = text(&server.register(&bob, &receiver.url), "webhook_id");
    server.send(&alice, &bob.key, "x").ok();
    let first = await_entries(&server, &bob, &webhook_id, "failed", 1).remove(0);
    receiver.await_requests(2);
    let recover = json!({"action": "recover", "webhook_id": webhook_id, "since": first["at"]});
    server.manage(&bob, &recover).ok();
    receiver.await_requests(3);
    await_entries(&server, &bob, &webhook_id, "succeeded", 1);
}

fn failed_deliveries_since_a_time_are_counted_and_then_recovered(database: &Database) {
    let server = database.serve_with(&["--webhook-retry-schedule", "1h,1h"]);
    let receiver = Receiver::reacting(|nth| Reaction::Status(if nth < 4 { 500 } else { 200 }));
    let (alice, bob) = database.busy_pair(&server);
    let webhook_id = text(&server.register(&bob, &receiver.url), "webhook_id");
    server.send(&alice, &bob.key, "before").ok();
    let before = await_entries(&server, &bob, &webhook_id, "failed", 1).remove(0);
    for _ in 0..3 {
        server.send(&alice, &bob.key, "x").ok();
    }
    let failed = await_entries(&server, &bob, &webhook_id, "failed", 4);
    let first = failed.iter().rev().nth(1).unwrap();
    assert!(text(first, "at") > text(&before, "at"), "{failed:?}");
    let recover = |dry_run: bool| {
        let body = json!({
            "action": "recover", "webhook_id": webhook_id, "since": first["at"], "dry_run": dry_run,
        });
        server.manage(&bob, &body).ok()
    };
    let response = |recovered: u32, dry_run: bool| {
        json!({
            "webhook_id": webhook_id, "matched": 3, "recovered": recovered, "more": false,
            "dry_run": dry_run,
        })
    };
    assert_eq!(recover(true), response(0, true));
    assert_eq!(receiver.requests().len(), 4);
    assert_eq!(recover(false), response(3, false));
    let requests = receiver.await_requests(7);
    await_entries(&server, &bob, &webhook_id, "succeeded", 3);
    let waiting = await_entries(&server, &bob, &webhook_id, "pending", 1);
    assert_eq!(waiting.len(), 1);
    assert_eq!(waiting[0]["envelope_id"], before["envelope_id"], "earlier failures still wait");
    assert_eq!((&waiting[0]["attempt"], &waiting[0]["error"]), (&json!(2), &json!("http_status")));
    assert!(requests[4..].iter().all(|request| before["envelope_id"] != request.id()));
}

fn a_410_disables_the_webhook_and_enabling_it_sends_waiting_deliveries(database: &Database) {
    let server = database.serve();
    let receiver = Receiver::reacting(|nth| Reaction::Status(if nth == 0 { 410 } else { 200 }));
    let (alice, bob) = database.busy_pair(&server);
    let webhook_id = text(&server.register(&bob, &receiver.url), "webhook_id");
    let gone = text(&server.send(&alice, &bob.key, "x").ok(), "envelope_id");
    let shown = await_disabled(&server, &bob);
    assert_eq!(shown["disabled_reason"], "gone");
    assert_eq!(await_entries(&server, &bob, &webhook_id, "exhausted", 1)[0]["status_code"], 410);
    let mut waited: Vec<_> =
        (0..3).map(|_| text(&server.send(&alice, &bob.key, "x").ok(), "envelope_id")).collect();
    let waiting = await_entries(&server, &bob, &webhook_id, "pending", 3);
    assert!(waiting.iter().all(|it| it["next_attempt_at"].is_null()), "{waiting:?}");
    let again = json!({"action": "redeliver", "webhook_id": webhook_id, "envelope_id": gone});
    let refused = server.manage(&bob, &again).refused(400, "INVALID_FIELD");
    assert_eq!(refused["field"], "webhook_id");
    assert_eq!(receiver.requests().len(), 1);

    let enable = json!({"action": "enable", "webhook_id": webhook_id});
    let enabled = server.manage(&bob, &enable).ok();
    assert_eq!((&enabled["status"], &enabled["due_now"]), (&json!("enabled"), &json!(3)));
    has(&enabled, &json!({"disabled_reason": null, "failing_since": null}));
    let mut delivered: Vec<_> =
        receiver.await_requests(4)[1..].iter().map(WebhookRequest::id).collect();
    delivered.sort();
    waited.sort();
    assert_eq!(delivered, waited);
    server.manage(&bob, &again).ok();
    assert_eq!(receiver.await_requests(5)[4].id(), gone);
}

/// The five days of failures are written directly into the database.
fn a_webhook_is_disabled_after_five_days_of_failures(database: &Database) {
    let server = database.serve_with(&["--webhook-retry-schedule", "10ms,1h"]);
    let receiver = Receiver::reacting(|_| Reaction::Status(500));
    let (alice, bob) = database.busy_pair(&server);
    let webhook_id = text(&server.register(&bob, &receiver.url), "webhook_id");
    server.send(&alice, &bob.key, "x").ok();
    await_entries(&server, &bob, &webhook_id, "failed", 2);
    let shown = server.only_webhook(&bob);
    assert_eq!((&shown["status"], &shown["disabled_reason"]), (&json!("enabled"), &json!(null)));
    let since = text(&shown, "failing_since");
    assert!(since <= text(&shown["last_failure"], "at"));
    database.by_hand("UPDATE webhooks SET failing_since = failing_since - 5 * 86400000");
    server.send(&alice, &bob.key, "x").ok();
    let shown = await_disabled(&server, &bob);
    assert_eq!(shown["disabled_reason"], "failing");
    assert!(text(&shown, "failing_since") < since);
    let log = eventually("the log has the entry", SOON, || {
        Some(server.log()).filter(|log| log.contains("webhook disabled"))
    });
    assert_eq!(log.matches("webhook disabled").count(), 1);
}

fn await_disabled(client: &Client, identity: &Identity) -> Value {
    eventually("the webhook is disabled", SOON, || {
        Some(client.only_webhook(identity)).filter(|shown| shown["status"] == "disabled")
    })
}

/// Waits until the delivery log has at least this many entries in this state.
fn await_entries(
    client: &Client,
    identity: &Identity,
    webhook_id: &str,
    state: &str,
    count: usize,
) -> Vec<Value> {
    let body = json!({"action": "deliveries", "webhook_id": webhook_id, "state": state});
    eventually(&format!("{count} {state}"), SOON, || {
        let mut page = client.manage(identity, &body).ok();
        let entries = page["deliveries"].as_array_mut().map(std::mem::take);
        entries.filter(|entries| entries.len() >= count)
    })
}
