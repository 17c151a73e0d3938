//! Tests that the trace of a send (W3C Trace Context) reaches the receiver on every attempt.

use std::collections::BTreeSet;

use serde_json::json;

use crate::support::{
    Client, Database, Identity, Reaction, Receiver, Request, WebhookRequest, on_both, on_embedded,
    text,
};

on_both!(
    each_attempt_continues_the_trace_of_the_send,
    a_trace_outlives_a_restart,
    a_repeated_request_keeps_the_first_trace,
);
on_embedded!(a_batch_has_one_trace, invalid_and_missing_traces_are_ignored,);

const TRACE: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
const OTHER: &str = "00-11111111111111111111111111111111-b7ad6b7169203331-00";

fn send<'a>(client: &'a Client, from: &Identity, to: &Identity) -> Request<'a> {
    let body = json!({"to": to.key, "message": "x"});
    client.post("/v1/channel/send").by(from).json(&body)
}

fn trace_of(request: &WebhookRequest) -> Option<&str> {
    let values: Vec<_> = request.headers.get_all("traceparent").iter().collect();
    assert!(values.len() < 2, "{values:?}");
    values.first().map(|value| value.to_str().unwrap())
}

/// Returns the parent id of a `traceparent` that continues `sent`.
#[track_caller]
fn parent_continuing<'a>(sent: &str, request: &'a WebhookRequest) -> &'a str {
    let received = trace_of(request).unwrap();
    let (sent, received): (Vec<_>, Vec<_>) =
        (sent.split('-').collect(), received.split('-').collect());
    assert_eq!((received[0], received[1], received[3]), ("00", sent[1], sent[3]));
    assert_ne!(received[2], sent[2]);
    assert_eq!(received[2].len(), 16);
    received[2]
}

fn each_attempt_continues_the_trace_of_the_send(database: &Database) {
    let server = database.serve_with(&["--webhook-retry-schedule", "10ms,10ms"]);
    let receiver = Receiver::reacting(|nth| Reaction::Status(if nth < 2 { 500 } else { 200 }));
    let (alice, bob) = database.busy_pair(&server);
    let webhook_id = text(&server.register(&bob, &receiver.url), "webhook_id");
    let sent = send(&server, &alice, &bob).header("traceparent", TRACE).response().ok();
    receiver.await_requests(3);
    let envelope_id = text(&sent, "envelope_id");
    let again =
        json!({"action": "redeliver", "webhook_id": webhook_id, "envelope_id": envelope_id});
    server.manage(&bob, &again).ok();
    let requests = receiver.await_requests(4);
    let parents: BTreeSet<_> = requests.iter().map(|it| parent_continuing(TRACE, it)).collect();
    assert_eq!(parents.len(), 4, "each attempt is a span of its own");
}

fn a_trace_outlives_a_restart(database: &Database) {
    let receiver = Receiver::start();
    let bob = {
        let server = database.serve();
        let (alice, bob) = database.busy_pair(&server);
        send(&server, &alice, &bob).header("traceparent", TRACE).response().ok();
        bob
    };
    let server = database.serve();
    server.register(&bob, &receiver.url);
    parent_continuing(TRACE, &receiver.await_requests(1)[0]);
}

fn a_batch_has_one_trace(database: &Database) {
    let server = database.serve();
    let receiver = Receiver::start();
    let (alice, bob) = database.busy_pair(&server);
    server.register(&bob, &receiver.url);
    let message = json!({"to": bob.key, "message": "x"});
    let batch = server.post("/v1/channel/send-batch").by(&alice).header("traceparent", TRACE);
    batch.json(&json!({"messages": [message, message]})).response().ok();
    for request in receiver.await_requests(2) {
        parent_continuing(TRACE, &request);
    }
}

fn a_repeated_request_keeps_the_first_trace(database: &Database) {
    let server = database.serve();
    let receiver = Receiver::start();
    let (alice, bob) = database.busy_pair(&server);
    let send = |trace: &str| {
        let request = send(&server, &alice, &bob).header("Idempotency-Key", "order-7");
        request.header("traceparent", trace).response()
    };
    let first = send(TRACE).ok();
    let again = send(OTHER);
    assert_eq!(again.header("idempotency-replayed"), Some("true"));
    assert_eq!(again.ok(), first);
    server.register(&bob, &receiver.url);
    parent_continuing(TRACE, &receiver.await_requests(1)[0]);
}

fn invalid_and_missing_traces_are_ignored(database: &Database) {
    let server = database.serve();
    let receiver = Receiver::start();
    let (alice, bob) = database.busy_pair(&server);
    server.register(&bob, &receiver.url);
    let upper = TRACE.to_uppercase();
    let zero = "00-00000000000000000000000000000000-b7ad6b7169203331-01";
    for invalid in
        ["", "nonsense", zero, &upper, "ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"]
    {
        send(&server, &alice, &bob).header("traceparent", invalid).response().ok();
    }
    send(&server, &alice, &bob).response().ok();
    let repeated = send(&server, &alice, &bob).header("traceparent", TRACE);
    repeated.header("traceparent", OTHER).response().ok();
    let requests = receiver.await_requests(7);
    assert!(requests.iter().all(|request| trace_of(request).is_none()), "{requests:?}");
}
