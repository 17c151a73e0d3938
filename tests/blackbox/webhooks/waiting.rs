//! Tests of waiting envelopes, which were sent to a key without a webhook and are delivered to its first webhook.

use std::{
    collections::BTreeSet,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use serde_json::{Value, json};

use crate::support::{
    Client, Database, Identity, Reaction, Receiver, eventually, on_both, text, wait_until,
};

on_both!(
    the_first_webhook_receives_waiting_envelopes,
    a_skip_ends_the_waiting,
    undelivered_envelopes_of_a_deleted_webhook_reach_the_next,
    an_expired_envelope_does_not_wait,
    every_waiting_envelope_arrives_after_kills,
);

fn send(client: &Client, from: &Identity, to: &Identity, count: usize) -> BTreeSet<String> {
    let sent = (0..count).map(|_| client.send(from, &to.key, "x").ok());
    sent.map(|sent| text(&sent, "envelope_id")).collect()
}

fn register(client: &Client, identity: &Identity, body: &Value) -> Value {
    client.act(identity, "/v1/webhooks/register", body).ok()
}

/// Returns the number of waiting envelopes in the status response of the key.
fn waiting(client: &Client, identity: &Identity) -> Value {
    let status = client.status(identity).ok();
    assert_eq!(status["waiting_more"], json!(false));
    status["waiting"].clone()
}

fn received(receiver: &Receiver) -> BTreeSet<String> {
    let requests = receiver.requests().into_iter();
    requests.filter(|request| request.has_response).map(|request| request.id()).collect()
}

fn the_first_webhook_receives_waiting_envelopes(database: &Database) {
    let servers = database.serve_on_every_node();
    let client = servers[0].client();
    let (first, second) = (Receiver::start(), Receiver::start());
    let (alice, bob) = (client.new_identity(), client.new_identity());
    let sent = send(client, &alice, &bob, 4);
    let opened = sent.last().unwrap().clone();
    client.open(&bob, &opened).ok();
    assert_eq!(waiting(client, &bob), json!(3));
    let wrong = json!({"url": first.url, "events": ["envelope.received"], "waiting": "later"});
    client.act(&bob, "/v1/webhooks/register", &wrong).refused(400, "INVALID_FIELD");
    let last = servers.last().unwrap().client();
    let hook = last.register(&bob, &first.url);
    assert_eq!((&hook["waiting"], &hook["waiting_more"]), (&json!(3), &json!(false)));
    let hook = last.register(&bob, &second.url);
    assert_eq!((&hook["waiting"], &hook["waiting_more"]), (&json!(0), &json!(false)));
    first.await_requests(3);
    let expected: BTreeSet<_> = sent.into_iter().filter(|id| *id != opened).collect();
    wait_until("all waiting envelopes", || received(&first) == expected);
    assert_eq!(waiting(client, &bob), json!(0));
    let later = send(client, &alice, &bob, 1);
    second.await_requests(1);
    wait_until("the next envelope", || received(&second) == later);
}

fn a_skip_ends_the_waiting(database: &Database) {
    let (server, receiver) = (database.serve(), Receiver::start());
    let (alice, bob) = (server.new_identity(), server.new_identity());
    send(&server, &alice, &bob, 3);
    let skip = json!({"url": receiver.url, "events": ["envelope.received"], "waiting": "skip"});
    let hook = register(&server, &bob, &skip);
    assert_eq!((&hook["waiting"], &hook["waiting_more"]), (&json!(0), &json!(false)));
    assert_eq!(waiting(&server, &bob), json!(0));
    let delete = json!({"action": "delete", "webhook_id": hook["webhook_id"]});
    server.manage(&bob, &delete).ok();
    let later = send(&server, &alice, &bob, 1);
    assert_eq!(server.register(&bob, &receiver.url)["waiting"], json!(1));
    receiver.await_requests(1);
    wait_until("the later envelope", || received(&receiver) == later);
}

/// Another node seems to delete envelopes, so the rows of the envelopes stay while the test runs.
fn an_expired_envelope_does_not_wait(database: &Database) {
    let server = database.serve();
    let client = server.client();
    let (alice, bob) = database.busy_pair(client);
    let id = send(client, &alice, &bob, 1).pop_first().unwrap();
    assert_eq!(waiting(client, &bob), json!(1));
    server.stop();
    database.by_hand(
        "INSERT INTO housekeeping_tasks (name, node, until)
         VALUES ('envelopes', 1, (SELECT max(created_at) + 120000 FROM envelopes))
         ON CONFLICT (name) DO UPDATE SET node = 1, until = excluded.until",
    );
    let (server, receiver) = (database.serve_with(&["--retention", "5s"]), Receiver::start());
    wait_until("the envelope expires", || waiting(&server, &bob) == 0);
    let hook = server.register(&bob, &receiver.url);
    assert_eq!(hook["waiting"], json!(0));
    let again = json!({"action": "redeliver", "webhook_id": hook["webhook_id"], "envelope_id": id});
    server.manage(&bob, &again).refused(404, "ENVELOPE_NOT_FOUND");
    let later = send(&server, &alice, &bob, 1);
    wait_until("the later envelope", || received(&receiver) == later);
    assert_eq!(database.count(&format!("envelopes WHERE id = '{id}'")), 1);
}

fn undelivered_envelopes_of_a_deleted_webhook_reach_the_next(database: &Database) {
    let (server, receiver) =
        (database.serve_with(&["--webhook-retry-schedule", "1h"]), Receiver::start());
    let failing = Receiver::reacting(|nth| Reaction::Status(if nth == 0 { 204 } else { 500 }));
    let (alice, bob) = (server.new_identity(), server.new_identity());
    let hook = server.register(&bob, &failing.url);
    send(&server, &alice, &bob, 1);
    failing.await_requests(1);
    let sent = send(&server, &alice, &bob, 2);
    failing.await_requests(3);
    let list = json!({"action": "deliveries", "webhook_id": hook["webhook_id"], "state": "failed"});
    wait_until("both failures are recorded", || {
        let listed = server.manage(&bob, &list).ok();
        listed["deliveries"].as_array().unwrap().len() == 2
    });
    let delete = json!({"action": "delete", "webhook_id": hook["webhook_id"]});
    server.manage(&bob, &delete).ok();
    assert_eq!(waiting(&server, &bob), json!(2));
    assert_eq!(server.register(&bob, &receiver.url)["waiting"], json!(2));
    wait_until("both envelopes", || received(&receiver) == sent);
}

/// Kills the server right after the registration, and again while it delivers.
fn every_waiting_envelope_arrives_after_kills(database: &Database) {
    let flags =
        ["--webhook-timeout=2s", "--webhook-lease=12s", "--webhook-retry-schedule=1s,1s,1s"];
    let server = database.serve_with(&flags);
    let (alice, bob) = (server.new_identity(), server.new_identity());
    for key in [&alice.key, &bob.key] {
        database.set_enterprise(key, [10_000, 10_000, 10_000, 10_000]);
    }
    let sent = send(&server, &alice, &bob, SENT);
    let is_accepting = Arc::new(AtomicBool::new(false));
    let accepts = Arc::clone(&is_accepting);
    let receiver = Receiver::reacting(move |nth| {
        let has_response = nth < SENT / 4 || accepts.load(Ordering::Relaxed);
        if has_response { Reaction::Status(204) } else { Reaction::Ignore }
    });
    let hook = server.register(&bob, &receiver.url);
    server.kill();
    assert_eq!(hook["waiting"], json!(SENT));
    let server = database.serve_with(&flags);
    receiver.await_requests(SENT / 4 + 1);
    server.kill();
    assert!(received(&receiver).len() < SENT);
    is_accepting.store(true, Ordering::Relaxed);
    let server = database.serve_with(&flags);
    eventually("every waiting envelope", Duration::from_mins(1), || {
        (received(&receiver) == sent).then_some(())
    });
    assert_eq!(waiting(&server, &bob), json!(0));
    let twice = receiver.requests().iter().filter(|it| it.has_response).count() - SENT;
    eprintln!("{twice} duplicate deliveries");
    server.stop();
}

const SENT: usize = 160;
