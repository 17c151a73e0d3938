//! Tests of the main use: activate a key, log in, register a webhook, send a message, receive the webhook request, open
//! the message.

use serde_json::{Value, json};

use crate::support::{Database, Identity, Receiver, Server, on_both, on_embedded, text};

on_both!(
    a_message_to_a_key_arrives_sealed_and_opens,
    envelopes_of_every_suite_open_after_a_restart_with_another_suite,
    messages_of_any_text_come_back_unchanged,
    the_status_shows_the_usage,
);
on_embedded!(the_status_matches_the_activation_response);

fn a_message_to_a_key_arrives_sealed_and_opens(database: &Database) {
    for (flag, algorithm) in [("hybrid", HYBRID), ("classic", CLASSIC), ("channel", CHANNEL)] {
        let (server, receiver) = (database.serve_with(&["--suite", flag]), Receiver::start());
        let (alice, bob) = (server.new_identity(), server.new_identity());
        let secret = text(&server.register(&bob, &receiver.url), "secret");

        let sent = server.send(&alice, &bob.key, MESSAGE).ok();
        check_sent(&sent, &alice, &bob, algorithm);

        let request = receiver.await_requests(1).remove(0);
        request.verify(&secret);
        assert_eq!(request.id(), text(&sent, "envelope_id"));
        assert_eq!(request.header("content-type"), "application/json");
        assert_eq!(request.json(), payload_of(&sent));
        assert!(!String::from_utf8_lossy(&request.body).contains(MESSAGE));
        for identity in [&alice, &bob] {
            assert!(!String::from_utf8_lossy(&request.body).contains(&identity.did));
        }

        let first = server.open(&bob, &request.id()).ok();
        check_opened(&first, &sent);
        let second = server.open(&bob, &request.id()).ok();
        assert_eq!(second, first, "the second opening shows the time of the first");
        server.stop();
    }
}

#[test]
fn a_handle_is_accepted_in_any_spelling() {
    let server = Server::shared();
    let (alice, bob) = (server.new_identity(), server.new_identity_with_handle("Bob-the_2nd"));
    assert_eq!(server.status(&bob).ok()["handle"], "bob-the_2nd");
    for to in ["bob-the_2nd", "BOB-the_2ND", "@bob-the_2nd", "@Bob-The_2nd"] {
        let sent = server.send(&alice, to, MESSAGE).ok();
        assert_eq!(sent["recipient"], bob.key, "{to}");
        assert_eq!(server.open(&bob, &text(&sent, "envelope_id")).ok()["message"], MESSAGE);
    }
}

fn envelopes_of_every_suite_open_after_a_restart_with_another_suite(database: &Database) {
    let server = database.serve_with(&["--suite", "classic"]);
    let (alice, bob) = (server.new_identity(), server.new_identity());
    let classic = server.send(&alice, &bob.key, MESSAGE).ok();
    server.stop();

    let server = database.serve();
    check_opened(&server.open(&bob, &text(&classic, "envelope_id")).ok(), &classic);
    let hybrid = server.send(&alice, &bob.key, MESSAGE).ok();
    assert_eq!(hybrid["encryption"]["algorithm"], HYBRID);
    server.stop();

    let server = database.serve_with(&["--suite", "channel"]);
    let channel = server.send(&alice, &bob.key, MESSAGE).ok();
    assert_eq!(channel["encryption"]["algorithm"], CHANNEL);
    server.stop();

    let server = database.serve_with(&["--suite", "classic"]);
    for sent in [&classic, &hybrid, &channel] {
        check_opened(&server.open(&bob, &text(sent, "envelope_id")).ok(), sent);
    }
}

fn messages_of_any_text_come_back_unchanged(database: &Database) {
    let server = database.serve();
    let (alice, bob) = (server.new_identity(), server.new_identity());
    let limit = "ü".repeat(131_072);
    for message in ["x", " \n\t", "naïve 日本語 🦀", "\u{0}\u{1}\"\\", "{\"to\":1}", &limit] {
        let sent = server.send(&alice, &bob.key, message).ok();
        let opened = server.open(&bob, &text(&sent, "envelope_id")).ok();
        assert!(opened["message"] == message, "a message of {} bytes", message.len());
    }
}

fn the_status_shows_the_usage(database: &Database) {
    let (server, receiver) = (database.serve(), Receiver::start());
    let (alice, bob) = (server.new_identity(), server.new_identity());
    for _ in 0..2 {
        server.register(&alice, &receiver.url);
    }
    for _ in 0..3 {
        server.send(&alice, &bob.key, MESSAGE).ok();
    }
    let status = server.status(&alice).ok();
    assert_eq!(status["webhooks"], 2);
    assert_eq!(status["throughput_per_second"], 10);
    assert_eq!(status["governance"], json!({"blocked": false, "reasons": []}));
    let usage = |window: &str, limit: u32, used: u32| {
        let found = &status["usage"][window];
        assert_eq!(found["limit"], limit, "{window}");
        assert_eq!(found["used"], used, "{window}");
        assert_eq!(found["remaining"], limit - used, "{window}");
        let resets_at = text(found, "resets_at");
        assert!(resets_at.ends_with(":00.000Z"), "{resets_at}");
    };
    usage("day", 1000, 6);
    usage("month", 1000, 3);
    // A minute may have ended in between.
    assert!(status["usage"]["minute"]["used"].as_u64().unwrap() <= 6);
    assert_eq!(status["usage"]["minute"]["limit"], 20);
    assert_eq!(
        server.status(&bob).ok()["usage"]["month"]["used"],
        0,
        "receiving uses no allowance"
    );
}

fn the_status_matches_the_activation_response(database: &Database) {
    let server = database.serve();
    let activated = server.activate(&json!({"label": "Bob's phone", "handle": "bob"})).ok();
    for (name, prefix) in [
        ("api_key_id", "ak_"),
        ("account_id", "acct_"),
        ("login_secret", "ls_"),
        ("recovery_code", "rc_"),
        ("did", "did:key:z6Mk"),
    ] {
        assert!(text(&activated, name).starts_with(prefix), "{activated}");
    }
    let (account, secret) = (text(&activated, "account_id"), text(&activated, "login_secret"));
    let session = server.login(&account, &secret).ok();
    assert_eq!(session["token_type"], "Bearer");
    assert_eq!(session["account_id"], activated["account_id"]);
    assert!(is_instant(&text(&session, "expires_at")));
    let token = text(&session, "session_token");
    assert!(token.starts_with("st_"));

    let request = server.post("/v1/did/status").token(&token).key(&text(&activated, "api_key_id"));
    let status = request.response().ok();
    let is_secret = |name: &str| ["login_secret", "recovery_code"].contains(&name);
    let shown = activated.as_object().unwrap().iter().filter(|(name, _)| !is_secret(name));
    for (name, value) in shown {
        assert_eq!(status[name], *value, "{name}");
    }
    for (name, value) in
        [("label", "Bob's phone"), ("handle", "bob"), ("status", "active"), ("plan", "explorer")]
    {
        assert_eq!(status[name], value, "{name}");
    }
    assert!(is_instant(&text(&status, "created_at")));
}

fn check_sent(sent: &Value, from: &Identity, to: &Identity, algorithm: &str) {
    assert_eq!(sent["status"], "delivered");
    assert_eq!(sent["sender"], from.key);
    assert_eq!(sent["recipient"], to.key);
    assert_eq!(sent["encryption"], json!({"algorithm": algorithm, "status": "sealed"}));
    assert!(text(sent, "envelope_id").starts_with("env_"));
    let hash = text(sent, "envelope_hash");
    let digits = hash.strip_prefix("sha256:").unwrap();
    assert!(digits.len() == 64 && digits.bytes().all(|digit| digit.is_ascii_hexdigit()), "{hash}");
    let size = sent["metadata"]["payload_size_bytes"].as_u64().unwrap();
    assert!(size > u64::try_from(MESSAGE.len()).unwrap());
    assert!(is_instant(&text(&sent["metadata"], "timestamp")));
}

/// The expected webhook body: exactly the fields of the contract, with the values of the send response.
fn payload_of(sent: &Value) -> Value {
    json!({
        "event": "envelope.received",
        "envelope_id": sent["envelope_id"],
        "envelope_hash": sent["envelope_hash"],
        "sender": sent["sender"],
        "encryption": sent["encryption"],
        "metadata": sent["metadata"],
    })
}

fn check_opened(opened: &Value, sent: &Value) {
    assert_eq!(opened["message"], MESSAGE);
    for name in ["envelope_id", "envelope_hash", "sender", "encryption", "metadata"] {
        assert_eq!(opened[name], sent[name], "{name}");
    }
    assert!(is_instant(&text(opened, "opened_at")));
}

/// Returns true if the text is an ISO 8601 time in UTC with milliseconds.
fn is_instant(text: &str) -> bool {
    let shape = text.chars().map(|c| if c.is_ascii_digit() { '0' } else { c });
    shape.collect::<String>() == "0000-00-00T00:00:00.000Z"
}

const MESSAGE: &str = "Meet me at noon, by the old bridge.";
const CLASSIC: &str = "HPKE-X25519-HKDF-SHA256-AES-256-GCM-Ed25519";
const CHANNEL: &str = "HPKE-XWing-Export-HKDF-SHA256-AES-256-GCM-Ed25519";
const HYBRID: &str = "HPKE-XWing-HKDF-SHA256-AES-256-GCM-Ed25519";
