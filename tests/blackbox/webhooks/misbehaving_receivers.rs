//! Tests of deliveries to receivers that close their connections or have untrusted certificates. The unit tests of the
//! crate for webhooks try slow, endless, reset and overloaded receivers.

use std::time::Duration;

use serde_json::{Value, json};

use crate::support::{
    Authority, Client, Database, Identity, Reaction, Receiver, TlsReceiver, eventually, on_both,
    on_embedded, only_one, text,
};

on_both!(a_recovered_receiver_gets_deferred_deliveries_at_once);
on_embedded!(
    a_certificate_must_lead_to_a_trusted_authority,
    a_failed_tls_session_shows_its_reason_wherever_the_attempt_is_shown,
);

fn a_recovered_receiver_gets_deferred_deliveries_at_once(database: &Database) {
    let server = database.serve_with(&["--webhook-retry-schedule", "1s,1s,1s,1s,1s,1s"]);
    let client = server.client();
    // Five attempts, a probe, and one more attempt.
    let closes = 7;
    let react = move |nth| if nth < closes { Reaction::Close } else { Reaction::Status(204) };
    let receiver = Receiver::reacting(react);
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

fn a_certificate_must_lead_to_a_trusted_authority(database: &Database) {
    let authority = Authority::new();
    let right = TlsReceiver::showing(&authority.issue());
    let wrong = TlsReceiver::showing(&authority.issue_for_name("other.test"));
    let roots = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(roots.path(), &authority.pem).unwrap();
    let schedule = "--webhook-retry-schedule=10ms";

    let server = database.serve_with(&[schedule]);
    let bob = new_recipient(&server, &right.url);
    assert_eq!(await_failure(&server, &bob), "tls");
    server.stop();
    assert_eq!(right.counts().0, 0, "no request is sent over an untrusted connection");

    let flag = format!("--webhook-extra-roots={}", roots.path().display());
    let server = database.serve_with(&[schedule, &flag]);
    let trusted = new_recipient(&server, &right.url);
    await_success(&server, &trusted);
    let bob = new_recipient(&server, &wrong.url);
    assert_eq!(await_failure(&server, &bob), "tls");
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
    let bob = new_recipient(&server, &receiver.url);
    let shown = await_shown("a failure", &server, &bob, |shown| shown["last_failure"].is_object());
    let webhook_id = &shown["webhook_id"];
    let asked = json!({"action": "deliveries", "webhook_id": webhook_id, "state": "failed"});
    let logged = server.manage(&bob, &asked).ok()["deliveries"][0].clone();
    let tested = server.manage(&bob, &json!({"action": "test", "webhook_id": webhook_id})).ok();
    for attempt in [&shown["last_failure"], &logged, &tested] {
        assert_eq!(attempt["error"], "tls", "{attempt}");
        let detail = text(attempt, "error_detail");
        assert!(detail.contains("CaUsedAsEndEntity"), "{attempt}");
    }
    assert_eq!((&logged["response"], &logged["status_code"]), (&Value::Null, &Value::Null));
}

/// Registers the webhook of a new identity, sends an envelope to it, and returns it.
fn new_recipient(client: &Client, url: &str) -> Identity {
    let (alice, bob) = (client.new_identity(), client.new_identity());
    client.register(&bob, url);
    client.send(&alice, &bob.key, "x").ok();
    bob
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
        let shown = (listed.status != 429).then(|| only_one(&listed.ok()));
        shown.filter(&wanted)
    })
}
