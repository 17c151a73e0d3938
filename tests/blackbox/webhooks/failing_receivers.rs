//! Receivers that fail, hang, or point elsewhere.

use std::time::Duration;

use serde_json::{Value, json};

use crate::support::{
    Client, Database, Identity, Reaction, Receiver, SOON, eventually, on_both, text,
};

on_both!(
    a_failing_receiver_gets_the_same_notice_again,
    a_hanging_receiver_does_not_delay_the_others,
    a_redirect_is_a_failure_and_not_followed,
    a_webhook_deleted_between_attempts_is_not_tried_again,
    after_the_last_retry_nothing_more_is_sent,
    a_notice_that_failed_is_tried_again_after_a_restart,
);

fn a_failing_receiver_gets_the_same_notice_again(database: &Database) {
    let server = database.serve_with(&["--webhook-retry-schedule", "1100ms,100ms,100ms"]);
    let client = server.client();
    let failures = [Reaction::Answer(500), Reaction::Close, Reaction::Answer(404)];
    let receiver =
        Receiver::reacting(move |nth| failures.get(nth).cloned().unwrap_or(Reaction::Answer(200)));
    let (alice, bob) = database.busy_pair(client);
    let secret = text(&client.register(&bob, &receiver.url), "secret");
    let sent = client.send(&alice, &bob.key, "x").ok();
    let notices = receiver.await_notices(4);
    for notice in &notices {
        notice.verify(&secret);
        assert_eq!(notice.id(), text(&sent, "envelope_id"));
        assert_eq!(notice.body, notices[0].body);
    }
    let stamps: Vec<i64> =
        notices.iter().map(|notice| notice.header("webhook-timestamp").parse().unwrap()).collect();
    assert!(stamps[0] < stamps[1] && stamps.is_sorted(), "{stamps:?}");
    assert_ne!(notices[0].header("webhook-signature"), notices[1].header("webhook-signature"));

    let shown = eventually("the success is written down", SOON, || {
        Some(only_webhook(client, &bob)).filter(|shown| shown["last_success_at"].is_string())
    });
    assert!(text(&shown["last_failure"], "at") < text(&shown, "last_success_at"));
    assert!(shown["last_failure"]["error"].is_string());
}

fn after_the_last_retry_nothing_more_is_sent(database: &Database) {
    let server = database.serve_with(&["--webhook-retry-schedule", "10ms,10ms"]);
    let client = server.client();
    let (failing, well) = (Receiver::reacting(|_| Reaction::Answer(500)), Receiver::start());
    let (alice, bob) = (client.newcomer(), client.newcomer());
    client.register(&bob, &failing.url);
    client.send(&alice, &bob.key, "x").ok();
    let last = failing.await_notices(3)[2].clone();
    // Others are still swept after it has ended: twice over, since the sweep has no order to rely on.
    let carol = client.newcomer();
    let gates = Receiver::reacting(|nth| Reaction::Answer(if nth < 2 { 500 } else { 200 }));
    client.register(&carol, &gates.url);
    client.register(&carol, &well.url);
    client.send(&alice, &carol.key, "x").ok();
    gates.await_notices(3);
    let notices = failing.notices();
    assert_eq!(notices.len(), 3);
    assert_eq!(notices[2].id(), last.id());
}

fn a_redirect_is_a_failure_and_not_followed(database: &Database) {
    let server = database.serve_with(&["--webhook-retry-schedule", "10ms,10ms"]);
    let client = server.client();
    let elsewhere = Receiver::start();
    let there = elsewhere.url.clone();
    let receiver = Receiver::reacting(move |_| Reaction::Redirect(there.clone()));
    let (alice, bob) = (client.newcomer(), client.newcomer());
    client.register(&bob, &receiver.url);
    client.send(&alice, &bob.key, "x").ok();
    receiver.await_notices(3);
    assert!(elsewhere.notices().is_empty());
    assert!(only_webhook(client, &bob)["last_success_at"].is_null());
}

fn a_hanging_receiver_does_not_delay_the_others(database: &Database) {
    let server = database.serve_with(&["--webhook-in-flight", "16"]);
    let client = server.client();
    let (hanging, well) = (Receiver::reacting(|_| Reaction::Hang), Receiver::start());
    let (alice, bob) = (client.newcomer(), client.newcomer());
    client.register(&bob, &hanging.url);
    client.register(&bob, &well.url);
    let send = |count: usize| {
        for _ in 0..count {
            // Ten messages a second.
            eventually("the message is taken", SOON, || {
                (client.send(&alice, &bob.key, "x").status == 200).then_some(())
            });
        }
    };
    send(1);
    hanging.await_notices(1);
    send(9);
    // The receiver may take 15 s, so these have not waited for it.
    well.await_notices_within(10, Duration::from_secs(10));
    assert!(hanging.notices().len() <= 8, "more are under way to one receiver than are allowed");
    hanging.go_on();
    hanging.await_notices(10);
}

fn a_webhook_deleted_between_attempts_is_not_tried_again(database: &Database) {
    let server = database.serve_with(&["--webhook-retry-schedule", "2s"]);
    let client = server.client();
    let failing = Receiver::reacting(|_| Reaction::Answer(500));
    let other = Receiver::reacting(|nth| Reaction::Answer(if nth == 0 { 500 } else { 200 }));
    let (alice, bob) = (client.newcomer(), client.newcomer());
    let id = text(&client.register(&bob, &failing.url), "webhook_id");
    client.register(&bob, &other.url);
    client.send(&alice, &bob.key, "x").ok();
    failing.await_notices(1);
    client.manage(&bob, &json!({"action": "delete", "webhook_id": id})).ok();
    other.await_notices(2);
    assert_eq!(failing.notices().len(), 1);
}

fn a_notice_that_failed_is_tried_again_after_a_restart(database: &Database) {
    let server = database.serve_with(&["--webhook-retry-schedule", "1500ms"]);
    let receiver = Receiver::reacting(|nth| Reaction::Answer(if nth == 0 { 500 } else { 200 }));
    let (alice, bob) = (server.client().newcomer(), server.client().newcomer());
    let secret = text(&server.client().register(&bob, &receiver.url), "secret");
    server.client().send(&alice, &bob.key, "x").ok();
    receiver.await_notices(1);
    server.stop();
    let _server = database.serve();
    let notices = receiver.await_notices(2);
    notices[1].verify(&secret);
    assert_eq!(notices[0].id(), notices[1].id());
}

fn only_webhook(client: &Client, who: &Identity) -> Value {
    let mut listed = client.manage(who, &json!({"action": "list"})).ok();
    let webhooks = listed["webhooks"].as_array_mut().unwrap();
    assert_eq!(webhooks.len(), 1);
    webhooks.remove(0)
}
