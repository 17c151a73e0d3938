//! Tests of deliveries to receivers with slow, endless or reset responses, with `Retry-After` or 410, and with
//! untrusted certificates.

use std::time::{Duration, SystemTime};

use serde_json::{Value, json};

use crate::support::{
    Authority, Client, Database, Identity, Reaction, Receiver, Response, TlsReceiver, eventually,
    on_both, text,
};

on_both!(
    a_certificate_must_lead_to_a_trusted_authority,
    a_long_response_counts_by_its_status,
    retry_after_of_a_receiver_is_respected,
    a_recovered_receiver_gets_deferred_deliveries_at_once,
    a_receiver_that_responds_with_410_gets_no_more_requests,
    a_receiver_by_http_1_0_gets_every_event_at_the_first_attempt,
    a_reset_connection_is_retried,
    a_failed_tls_session_shows_its_reason_wherever_the_attempt_is_shown,
    a_slow_body_counts_by_its_status_and_a_slow_head_is_a_timeout,
    an_overloaded_receiver_gets_a_longer_delay_than_the_schedule,
);

fn a_reset_connection_is_retried(database: &Database) {
    let server = database.serve_with(&["--webhook-retry-schedule", "10ms,10ms,10ms"]);
    let receiver = Receiver::after_resets(2, |_| Reaction::Status(204));
    let sent = send_envelope(server.client(), &receiver.url);
    assert_eq!(receiver.await_requests(1)[0].id(), sent.envelope_id);
    let shown = await_success(server.client(), &sent.bob);
    assert_eq!(shown["last_failure"]["error"], "protocol");
}

fn a_receiver_by_http_1_0_gets_every_event_at_the_first_attempt(database: &Database) {
    let server = database.serve();
    let client = server.client();
    for response in [
        "HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok",
        "HTTP/1.0 200 OK\r\nContent-Type: text/plain\r\n\r\nok",
    ] {
        let receiver = Receiver::reacting(move |_| Reaction::Last(response));
        let (alice, bob) = database.busy_pair(client);
        client.register(&bob, &receiver.url);
        for _ in 0..100 {
            client.send(&alice, &bob.key, "x").ok();
        }
        receiver.await_requests(100);
        let shown = await_success(client, &bob);
        assert!(shown["last_failure"].is_null(), "{shown}");
    }
}

fn a_slow_body_counts_by_its_status_and_a_slow_head_is_a_timeout(database: &Database) {
    let flags = ["--webhook-timeout=5s", "--webhook-retry-schedule=10ms"];
    let server = database.serve_with(&flags);
    let slow_body = "HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n";
    let body = Receiver::reacting(move |_| Reaction::Drip(slow_body));
    let head = Receiver::reacting(|nth| match nth {
        0 => Reaction::Drip("HTTP/1.1 200 OK\r\nX-Slow: "),
        _ => Reaction::Status(204),
    });
    let (alice, bob) = (
        send_envelope(server.client(), &body.url).bob,
        send_envelope(server.client(), &head.url).bob,
    );
    assert!(await_success(server.client(), &alice)["last_failure"].is_null());
    assert_eq!(body.requests().len(), 1);
    let shown = await_success(server.client(), &bob);
    assert_eq!(shown["last_failure"]["error"], "timeout");
    assert_eq!(head.requests().len(), 2);
}

fn a_long_response_counts_by_its_status(database: &Database) {
    let server = database.serve_with(&["--webhook-retry-schedule", "10ms"]);
    let megabytes = |status: &str| Reaction::Exactly(status.to_owned(), vec![b'x'; 16 << 20]);
    let receiver = Receiver::reacting(move |nth| megabytes(["500 Oh", "200 OK"][nth]));
    let sent = send_envelope(server.client(), &receiver.url);
    let shown = await_success(server.client(), &sent.bob);
    assert_eq!(shown["last_failure"]["error"], "http_status");
    assert_eq!(receiver.requests().len(), 2);
}

fn a_recovered_receiver_gets_deferred_deliveries_at_once(database: &Database) {
    let server = database.serve_with(&["--webhook-retry-schedule", "1s,1s,1s,1s,1s,1s"]);
    let client = server.client();
    // Five attempts, a probe, and one more attempt.
    let closes = 7;
    let receiver =
        Receiver::reacting(
            move |nth| {
                if nth < closes { Reaction::Close } else { Reaction::Status(204) }
            },
        );
    let (alice, bob) = (client.new_identity(), client.new_identity());
    client.register(&bob, &receiver.url);
    for _ in 0..9 {
        client.send(&alice, &bob.key, "x").ok();
    }
    let requests = receiver.await_requests_within(closes + 9, Duration::from_mins(1));
    // By the schedule deferred deliveries are due after 21 s. The successful probe comes before 10 s.
    let waited = requests[closes + 8].at - requests[closes].at;
    assert!(waited < Duration::from_secs(8), "{waited:?}");
}

fn a_receiver_that_responds_with_410_gets_no_more_requests(database: &Database) {
    let server = database.serve_with(&["--webhook-retry-schedule", "10ms,10ms"]);
    let gone = Receiver::reacting(|_| Reaction::Status(410));
    let sent = send_envelope(server.client(), &gone.url);
    gone.await_requests(1);
    // Another delivery fails at every attempt of the same schedule.
    let failing = Receiver::reacting(|_| Reaction::Status(500));
    send_envelope(server.client(), &failing.url);
    failing.await_requests(3);
    assert_eq!(gone.requests().len(), 1);
    let shown = only_webhook(server.client(), &sent.bob);
    assert!(shown["last_success_at"].is_null());
    assert_eq!(shown["last_failure"]["error"], "http_status");
}

fn retry_after_of_a_receiver_is_respected(database: &Database) {
    let server = database.serve_with(&["--webhook-retry-schedule", "20ms,20ms"]);
    let asking = |head: fn() -> String| {
        Receiver::reacting(move |nth| match nth {
            0 => Reaction::Exactly(head(), Vec::new()),
            _ => Reaction::Status(204),
        })
    };
    let seconds = asking(|| "429 Slow Down\r\nRetry-After: 2".to_owned());
    // The header has whole seconds, so the delay is at least three seconds from the response.
    let instant =
        asking(|| format!("503 Not Now\r\nRetry-After: {}", http_date(Duration::from_secs(4))));
    send_envelope(server.client(), &seconds.url);
    send_envelope(server.client(), &instant.url);
    for receiver in [seconds, instant] {
        let requests = receiver.await_requests(2);
        let waited = requests[1].at - requests[0].at;
        assert!(waited >= Duration::from_secs(2), "{waited:?}");
        assert_eq!(requests[0].id(), requests[1].id());
    }
}

fn an_overloaded_receiver_gets_a_longer_delay_than_the_schedule(database: &Database) {
    let server = database.serve_with(&["--webhook-retry-schedule", "100ms,100ms"]);
    for status in [429, 502, 504] {
        let receiver =
            Receiver::reacting(move |nth| Reaction::Status(if nth == 0 { status } else { 204 }));
        send_envelope(server.client(), &receiver.url);
        let requests = receiver.await_requests(2);
        let waited = requests[1].at - requests[0].at;
        // The delay is a minute, while the schedule begins with 5 s.
        assert!(waited >= Duration::from_millis(1200), "{status}: {waited:?}");
    }
}

fn a_certificate_must_lead_to_a_trusted_authority(database: &Database) {
    let authority = Authority::new();
    let right = TlsReceiver::showing(&authority.issue());
    let wrong = TlsReceiver::showing(&authority.issue_for_name("other.test"));
    let roots = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(roots.path(), &authority.pem).unwrap();
    let schedule = "--webhook-retry-schedule=10ms";

    let server = database.serve_with(&[schedule]);
    let sent = send_envelope(server.client(), &right.url);
    assert_eq!(await_failure(server.client(), &sent.bob), "tls");
    server.stop();
    assert_eq!(right.counts().0, 0, "no request is sent over an untrusted connection");

    let flag = format!("--webhook-extra-roots={}", roots.path().display());
    let server = database.serve_with(&[schedule, &flag]);
    let trusted = send_envelope(server.client(), &right.url);
    await_success(server.client(), &trusted.bob);
    let sent = send_envelope(server.client(), &wrong.url);
    assert_eq!(await_failure(server.client(), &sent.bob), "tls");
    assert_eq!(wrong.counts().0, 0, "the host name must match too");
    assert!(wrong.counts().1 > 0);
}

fn a_failed_tls_session_shows_its_reason_wherever_the_attempt_is_shown(database: &Database) {
    let authority = Authority::new();
    let receiver = TlsReceiver::showing(&authority.as_server());
    let roots = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(roots.path(), &authority.pem).unwrap();
    let flag = format!("--webhook-extra-roots={}", roots.path().display());
    let server = database.serve_with(&["--webhook-retry-schedule=1h", &flag]);
    let client = server.client();
    let bob = send_envelope(client, &receiver.url).bob;
    let shown = await_shown("a failure", client, &bob, |shown| shown["last_failure"].is_object());
    let webhook_id = &shown["webhook_id"];
    let asked = json!({"action": "deliveries", "webhook_id": webhook_id, "state": "failed"});
    let logged = client.manage(&bob, &asked).ok()["deliveries"][0].clone();
    let tested = client.manage(&bob, &json!({"action": "test", "webhook_id": webhook_id})).ok();
    for attempt in [&shown["last_failure"], &logged, &tested] {
        assert_eq!(attempt["error"], "tls", "{attempt}");
        let detail = text(attempt, "error_detail");
        assert!(detail.contains("CaUsedAsEndEntity"), "{attempt}");
    }
    assert_eq!((&logged["response"], &logged["status_code"]), (&Value::Null, &Value::Null));
}

/// An identity with one webhook and one received envelope.
struct SentEnvelope {
    bob: Identity,
    envelope_id: String,
}

fn send_envelope(client: &Client, url: &str) -> SentEnvelope {
    let (alice, bob) = (client.new_identity(), client.new_identity());
    client.register(&bob, url);
    let sent = client.send(&alice, &bob.key, "x").ok();
    SentEnvelope { bob, envelope_id: text(&sent, "envelope_id") }
}

fn await_success(client: &Client, identity: &Identity) -> Value {
    await_shown("a success", client, identity, |shown| shown["last_success_at"].is_string())
}

fn await_failure(client: &Client, identity: &Identity) -> String {
    let shown =
        await_shown("a failure", client, identity, |shown| shown["last_failure"].is_object());
    text(&shown["last_failure"], "error")
}

/// Waits until the only webhook in the list meets the condition `wanted`.
#[track_caller]
fn await_shown(
    what: &str,
    client: &Client,
    identity: &Identity,
    wanted: impl Fn(&Value) -> bool,
) -> Value {
    eventually(&format!("{what} is logged"), Duration::from_mins(2), || {
        let listed = client.manage(identity, &json!({"action": "list"}));
        // The polls may reach the rate limit.
        let shown = (listed.status != 429).then(|| the_only_one(&listed));
        shown.filter(&wanted)
    })
}

fn only_webhook(client: &Client, identity: &Identity) -> Value {
    the_only_one(&client.manage(identity, &json!({"action": "list"})))
}

fn the_only_one(listed: &Response) -> Value {
    let mut listed = listed.ok();
    let webhooks = listed["webhooks"].as_array_mut().unwrap();
    assert_eq!(webhooks.len(), 1);
    webhooks.remove(0)
}

/// Formats the current time plus `span` as an HTTP date.
#[expect(clippy::disallowed_methods, reason = "the server under test asks the same clock")]
fn http_date(span: Duration) -> String {
    httpdate::fmt_http_date(SystemTime::now() + span)
}
