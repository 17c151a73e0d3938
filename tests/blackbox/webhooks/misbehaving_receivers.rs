//! Receivers that drip, reset, go on without end, ask for time, want nothing more, or cannot show who they are.

use std::{
    thread,
    time::{Duration, SystemTime},
};

use serde_json::{Value, json};

use crate::support::{
    Answer, Authority, Client, Database, Identity, Reaction, Receiver, TlsReceiver, eventually,
    on_both, text,
};

on_both!(
    a_certificate_must_lead_to_a_trusted_authority,
    a_long_answer_counts_by_its_status,
    a_receiver_may_ask_for_time,
    a_receiver_that_comes_back_gets_at_once_what_waited_for_it,
    a_receiver_that_is_gone_is_not_asked_again,
    a_reset_connection_is_tried_again,
    a_slow_answer_counts_by_its_status_and_a_slow_head_is_a_time_out,
    an_overloaded_receiver_is_granted_more_time_than_the_schedule,
);

fn a_reset_connection_is_tried_again(database: &Database) {
    let server = database.serve_with(&["--webhook-retry-schedule", "10ms,10ms,10ms"]);
    let receiver = Receiver::after_resets(2, |_| Reaction::Answer(204));
    let told = tell(server.client(), &receiver.url);
    assert_eq!(receiver.await_notices(1)[0].id(), told.envelope_id);
    let shown = await_success(server.client(), &told.bob);
    assert_eq!(shown["last_failure"]["error"], "protocol");
}

fn a_slow_answer_counts_by_its_status_and_a_slow_head_is_a_time_out(database: &Database) {
    let flags = ["--webhook-timeout=5s", "--webhook-retry-schedule=10ms"];
    let server = database.serve_with(&flags);
    let slow_body = "HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n";
    let body = Receiver::reacting(move |_| Reaction::Drip(slow_body));
    let head = Receiver::reacting(|nth| match nth {
        0 => Reaction::Drip("HTTP/1.1 200 OK\r\nX-Slow: "),
        _ => Reaction::Answer(204),
    });
    let (alice, bob) = (tell(server.client(), &body.url).bob, tell(server.client(), &head.url).bob);
    assert!(await_success(server.client(), &alice)["last_failure"].is_null());
    assert_eq!(body.notices().len(), 1);
    let shown = await_success(server.client(), &bob);
    assert_eq!(shown["last_failure"]["error"], "timeout");
    assert_eq!(head.notices().len(), 2);
}

fn a_long_answer_counts_by_its_status(database: &Database) {
    let server = database.serve_with(&["--webhook-retry-schedule", "10ms"]);
    let megabytes = |status: &str| Reaction::Exactly(status.to_owned(), vec![b'x'; 16 << 20]);
    let receiver = Receiver::reacting(move |nth| megabytes(["500 Oh", "200 OK"][nth]));
    let told = tell(server.client(), &receiver.url);
    let shown = await_success(server.client(), &told.bob);
    assert_eq!(shown["last_failure"]["error"], "http_status");
    assert_eq!(receiver.notices().len(), 2);
}

fn a_receiver_that_comes_back_gets_at_once_what_waited_for_it(database: &Database) {
    let server = database.serve_with(&["--webhook-retry-schedule", "1s,1s,1s,1s,1s,1s"]);
    let client = server.client();
    // Five attempts, a probe, and one more.
    let closes = 7;
    let receiver =
        Receiver::reacting(
            move |nth| {
                if nth < closes { Reaction::Close } else { Reaction::Answer(204) }
            },
        );
    let (alice, bob) = (client.newcomer(), client.newcomer());
    client.register(&bob, &receiver.url);
    for _ in 0..9 {
        client.send(&alice, &bob.key, "x").ok();
    }
    let notices = receiver.await_notices_within(closes + 9, Duration::from_mins(1));
    // By the clock what is put off is due after 21 s, and the probe that is answered before 10.
    let waited = notices[closes + 8].at - notices[closes].at;
    assert!(waited < Duration::from_secs(8), "{waited:?}");
}

fn a_receiver_that_is_gone_is_not_asked_again(database: &Database) {
    let server = database.serve_with(&["--webhook-retry-schedule", "10ms,10ms"]);
    let gone = Receiver::reacting(|_| Reaction::Answer(410));
    let told = tell(server.client(), &gone.url);
    gone.await_notices(1);
    // Another fails as often as it may, by the same schedule.
    let failing = Receiver::reacting(|_| Reaction::Answer(500));
    tell(server.client(), &failing.url);
    failing.await_notices(3);
    assert_eq!(gone.notices().len(), 1);
    let shown = only_webhook(server.client(), &told.bob);
    assert!(shown["last_success_at"].is_null());
    assert_eq!(shown["last_failure"]["error"], "http_status");
}

fn a_receiver_may_ask_for_time(database: &Database) {
    let server = database.serve_with(&["--webhook-retry-schedule", "20ms,20ms"]);
    let asking = |head: fn() -> String| {
        Receiver::reacting(move |nth| match nth {
            0 => Reaction::Exactly(head(), Vec::new()),
            _ => Reaction::Answer(204),
        })
    };
    let seconds = asking(|| "429 Slow Down\r\nRetry-After: 2".to_owned());
    // Whole seconds, and so three at the least from the moment in which it is said.
    let instant =
        asking(|| format!("503 Not Now\r\nRetry-After: {}", http_date(Duration::from_secs(4))));
    tell(server.client(), &seconds.url);
    tell(server.client(), &instant.url);
    for receiver in [seconds, instant] {
        let notices = receiver.await_notices(2);
        let waited = notices[1].at - notices[0].at;
        assert!(waited >= Duration::from_secs(2), "{waited:?}");
        assert_eq!(notices[0].id(), notices[1].id());
    }
}

fn an_overloaded_receiver_is_granted_more_time_than_the_schedule(database: &Database) {
    let server = database.serve_with(&["--webhook-retry-schedule", "100ms,100ms"]);
    for status in [429, 502, 504] {
        let receiver =
            Receiver::reacting(move |nth| Reaction::Answer(if nth == 0 { status } else { 204 }));
        tell(server.client(), &receiver.url);
        let notices = receiver.await_notices(2);
        let waited = notices[1].at - notices[0].at;
        // A minute where the schedule begins with 5 s.
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
    let told = tell(server.client(), &right.url);
    assert_eq!(await_failure(server.client(), &told.bob), "tls");
    server.stop();
    assert_eq!(right.counts().0, 0, "nothing is said to a stranger");

    let flag = format!("--webhook-extra-roots={}", roots.path().display());
    let server = database.serve_with(&[schedule, &flag]);
    let trusted = tell(server.client(), &right.url);
    await_success(server.client(), &trusted.bob);
    let told = tell(server.client(), &wrong.url);
    assert_eq!(await_failure(server.client(), &told.bob), "tls");
    assert_eq!(wrong.counts().0, 0, "the name must be right too");
    assert!(wrong.counts().1 > 0);
}

/// Somebody with one webhook, whom an envelope was sent to.
struct Told {
    bob: Identity,
    envelope_id: String,
}

fn tell(client: &Client, url: &str) -> Told {
    let (alice, bob) = (client.newcomer(), client.newcomer());
    client.register(&bob, url);
    let sent = client.send(&alice, &bob.key, "x").ok();
    Told { bob, envelope_id: text(&sent, "envelope_id") }
}

fn await_success(client: &Client, who: &Identity) -> Value {
    await_shown("a success", client, who, |shown| shown["last_success_at"].is_string())
}

fn await_failure(client: &Client, who: &Identity) -> String {
    let shown = await_shown("a failure", client, who, |shown| shown["last_failure"].is_object());
    text(&shown["last_failure"], "error")
}

/// Looks twice a second, since a key may ask twenty times a minute.
#[track_caller]
fn await_shown(
    what: &str,
    client: &Client,
    who: &Identity,
    wanted: impl Fn(&Value) -> bool,
) -> Value {
    eventually(&format!("{what} is written down"), Duration::from_mins(2), || {
        let listed = client.manage(who, &json!({"action": "list"}));
        // A slow machine is looked at more often than that.
        let shown = (listed.status != 429).then(|| the_only_one(&listed));
        shown.filter(&wanted).or_else(|| {
            thread::sleep(Duration::from_millis(500));
            None
        })
    })
}

fn only_webhook(client: &Client, who: &Identity) -> Value {
    the_only_one(&client.manage(who, &json!({"action": "list"})))
}

fn the_only_one(listed: &Answer) -> Value {
    let mut listed = listed.ok();
    let webhooks = listed["webhooks"].as_array_mut().unwrap();
    assert_eq!(webhooks.len(), 1);
    webhooks.remove(0)
}

/// The present and `span` on, as HTTP writes it.
#[expect(clippy::disallowed_methods, reason = "the server under test asks the same clock")]
fn http_date(span: Duration) -> String {
    httpdate::fmt_http_date(SystemTime::now() + span)
}
