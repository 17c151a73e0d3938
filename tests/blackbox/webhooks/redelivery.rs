//! Sending again: what was exhausted, what failed since a time, and what waited for a webhook to be enabled.

use serde_json::{Value, json};

use crate::support::{
    Client, Database, Identity, Notice, Reaction, Receiver, SOON, eventually, on_both, text,
};

on_both!(
    an_exhausted_notice_is_sent_again_on_request,
    what_failed_since_a_time_is_counted_and_then_sent_again,
    a_410_disables_and_what_waited_is_sent_when_it_is_enabled,
    nothing_but_failures_for_five_days_disables,
);

fn an_exhausted_notice_is_sent_again_on_request(database: &Database) {
    let server = database.serve_with(&["--webhook-retry-schedule", "10ms"]);
    let client = server.client();
    let receiver = Receiver::reacting(|nth| Reaction::Answer(if nth < 2 { 500 } else { 200 }));
    let (alice, bob) = database.busy_pair(client);
    let webhook_id = text(&client.register(&bob, &receiver.url), "webhook_id");
    let envelope_id = text(&client.send(&alice, &bob.key, "x").ok(), "envelope_id");
    let last = await_entries(client, &bob, &webhook_id, "exhausted", 1).remove(0);
    assert_eq!((&last["attempt"], &last["next_attempt_at"]), (&json!(2), &Value::Null));

    let again = json!({
        "action": "redeliver", "webhook_id": webhook_id, "envelope_id": envelope_id,
    });
    let expected =
        json!({"webhook_id": webhook_id, "envelope_id": envelope_id, "outcome": "pending"});
    assert_eq!(client.manage(&bob, &again).ok(), expected);
    assert_eq!(receiver.await_notices(3)[2].id(), envelope_id);
    let succeeded = await_entries(client, &bob, &webhook_id, "succeeded", 1).remove(0);
    assert_eq!(succeeded["attempt"], 1, "the whole schedule is before it again");

    client.manage(&bob, &again).ok();
    assert_eq!(receiver.await_notices(4)[3].id(), envelope_id, "also what has succeeded");
    await_entries(client, &bob, &webhook_id, "succeeded", 2);
    client.open(&bob, &envelope_id).ok();
}

fn what_failed_since_a_time_is_counted_and_then_sent_again(database: &Database) {
    let server = database.serve_with(&["--webhook-retry-schedule", "1h,1h"]);
    let client = server.client();
    let receiver = Receiver::reacting(|nth| Reaction::Answer(if nth < 4 { 500 } else { 200 }));
    let (alice, bob) = database.busy_pair(client);
    let webhook_id = text(&client.register(&bob, &receiver.url), "webhook_id");
    client.send(&alice, &bob.key, "before").ok();
    let before = await_entries(client, &bob, &webhook_id, "failed", 1).remove(0);
    for _ in 0..3 {
        client.send(&alice, &bob.key, "x").ok();
    }
    let failed = await_entries(client, &bob, &webhook_id, "failed", 4);
    let first = failed.iter().rev().nth(1).unwrap();
    assert!(text(first, "at") > text(&before, "at"), "{failed:?}");
    let recover = |dry_run: bool| {
        let body = json!({
            "action": "recover", "webhook_id": webhook_id, "since": first["at"], "dry_run": dry_run,
        });
        client.manage(&bob, &body).ok()
    };
    let answer = |recovered: u32, dry_run: bool| {
        json!({
            "webhook_id": webhook_id, "matched": 3, "recovered": recovered, "more": false,
            "dry_run": dry_run,
        })
    };
    assert_eq!(recover(true), answer(0, true));
    assert_eq!(receiver.notices().len(), 4);
    assert_eq!(recover(false), answer(3, false));
    let notices = receiver.await_notices(7);
    await_entries(client, &bob, &webhook_id, "succeeded", 3);
    let waiting = await_entries(client, &bob, &webhook_id, "pending", 1);
    assert_eq!(waiting.len(), 1);
    assert_eq!(waiting[0]["envelope_id"], before["envelope_id"], "what failed earlier still waits");
    assert_eq!((&waiting[0]["attempt"], &waiting[0]["error"]), (&json!(2), &json!("http_status")));
    assert!(notices[4..].iter().all(|notice| before["envelope_id"] != notice.id()));
}

fn a_410_disables_and_what_waited_is_sent_when_it_is_enabled(database: &Database) {
    let server = database.serve();
    let client = server.client();
    let receiver = Receiver::reacting(|nth| Reaction::Answer(if nth == 0 { 410 } else { 200 }));
    let (alice, bob) = database.busy_pair(client);
    let webhook_id = text(&client.register(&bob, &receiver.url), "webhook_id");
    let gone = text(&client.send(&alice, &bob.key, "x").ok(), "envelope_id");
    let shown = await_disabled(client, &bob);
    assert_eq!(shown["disabled_reason"], "gone");
    assert_eq!(await_entries(client, &bob, &webhook_id, "exhausted", 1)[0]["status_code"], 410);
    let mut waited: Vec<_> =
        (0..3).map(|_| text(&client.send(&alice, &bob.key, "x").ok(), "envelope_id")).collect();
    let waiting = await_entries(client, &bob, &webhook_id, "pending", 3);
    assert!(waiting.iter().all(|it| it["next_attempt_at"].is_null()), "{waiting:?}");
    let again = json!({"action": "redeliver", "webhook_id": webhook_id, "envelope_id": gone});
    let refused = client.manage(&bob, &again).refused(400, "INVALID_FIELD");
    assert_eq!(refused["field"], "webhook_id");
    assert_eq!(receiver.notices().len(), 1);

    let enable = json!({"action": "enable", "webhook_id": webhook_id});
    let enabled = client.manage(&bob, &enable).ok();
    assert_eq!((&enabled["status"], &enabled["due_now"]), (&json!("enabled"), &json!(3)));
    assert_eq!(
        (&enabled["disabled_reason"], &enabled["failing_since"]),
        (&json!(null), &json!(null))
    );
    let mut told: Vec<_> = receiver.await_notices(4)[1..].iter().map(Notice::id).collect();
    told.sort();
    waited.sort();
    assert_eq!(told, waited);
    client.manage(&bob, &again).ok();
    assert_eq!(receiver.await_notices(5)[4].id(), gone);
}

/// The five days are written into the database by hand.
fn nothing_but_failures_for_five_days_disables(database: &Database) {
    let server = database.serve_with(&["--webhook-retry-schedule", "10ms,1h"]);
    let client = server.client();
    let receiver = Receiver::reacting(|_| Reaction::Answer(500));
    let (alice, bob) = database.busy_pair(client);
    let webhook_id = text(&client.register(&bob, &receiver.url), "webhook_id");
    client.send(&alice, &bob.key, "x").ok();
    await_entries(client, &bob, &webhook_id, "failed", 2);
    let shown = only_webhook(client, &bob);
    assert_eq!((&shown["status"], &shown["disabled_reason"]), (&json!("enabled"), &json!(null)));
    let since = text(&shown, "failing_since");
    assert!(since <= text(&shown["last_failure"], "at"));
    database.by_hand("UPDATE webhooks SET failing_since = failing_since - 5 * 86400000");
    client.send(&alice, &bob.key, "x").ok();
    let shown = await_disabled(client, &bob);
    assert_eq!(shown["disabled_reason"], "failing");
    assert!(text(&shown, "failing_since") < since);
    let log = eventually("it is told", SOON, || {
        Some(server.log()).filter(|log| log.contains("a webhook is disabled"))
    });
    assert_eq!(log.matches("a webhook is disabled").count(), 1);
}

fn only_webhook(client: &Client, who: &Identity) -> Value {
    let mut listed = client.manage(who, &json!({"action": "list"})).ok();
    let webhooks = listed["webhooks"].as_array_mut().unwrap();
    assert_eq!(webhooks.len(), 1);
    webhooks.remove(0)
}

fn await_disabled(client: &Client, who: &Identity) -> Value {
    eventually("it is disabled", SOON, || {
        Some(only_webhook(client, who)).filter(|shown| shown["status"] == "disabled")
    })
}

/// So many entries in this state, or more.
fn await_entries(
    client: &Client,
    who: &Identity,
    webhook_id: &str,
    state: &str,
    count: usize,
) -> Vec<Value> {
    let body = json!({"action": "deliveries", "webhook_id": webhook_id, "state": state});
    eventually(&format!("{count} {state}"), SOON, || {
        let mut page = client.manage(who, &body).ok();
        let entries = page["deliveries"].as_array_mut().map(std::mem::take);
        entries.filter(|entries| entries.len() >= count)
    })
}
