//! Tests that no secret appears in the log at any level.

use std::fs;

use serde_json::json;

use crate::support::{Browser, Database, Reaction, Receiver, on_both, text};

on_both!(no_secret_appears_in_trace_logs);

fn no_secret_appears_in_trace_logs(database: &Database) {
    let server = database.serve_with(&["--log", "trace", "--webhook-retry-schedule", "10ms,10ms"]);
    let receiver = Receiver::reacting(|nth| Reaction::Status(if nth == 0 { 500 } else { 200 }));
    let (alice, bob) = (server.new_identity(), server.new_identity_with_handle("bob"));
    let sibling = server.sibling(&bob);
    let registered = server.register(&bob, &receiver.url);
    let secret = text(&registered, "secret");
    let sent = server.send(&alice, "bob", MESSAGE).ok();
    receiver.await_requests(2);
    server.open(&bob, &text(&sent, "envelope_id")).ok();
    server.status(&sibling).ok();
    server.send(&alice, &bob.did, MESSAGE).refused(400, "RAW_DID_REJECTED");
    server
        .act(&alice, "/v1/channel/send", &json!({"to": MESSAGE, "message": 7}))
        .refused(400, "INVALID_FIELD");
    server.login(&alice.account, bob.secret()).refused(401, "UNAUTHORIZED");
    let broken =
        server.post("/v1/did/status").by(&alice).body("application/json", MESSAGE.as_bytes());
    broken.response().refused(400, "INVALID_JSON");
    server.post("/v1/auth/logout").token(&alice.token).response().ok();
    server.send(&alice, "bob", MESSAGE).refused(401, "UNAUTHORIZED");
    let browser = Browser::sign_in(&server, &bob);
    let page = format!("/dashboard/keys/{}/webhooks/{}", bob.key, text(&registered, "webhook_id"));
    let rotated = browser.secret(&page, "do=rotate_secret");
    let login_secret = browser.secret("/dashboard/account/secret", "");
    let form_token = browser.form_token();
    browser.get("/dashboard/keys/nobody");

    let kek = fs::read_to_string(database.kek_file()).unwrap();
    let log = server.log();
    assert!(log.contains(&text(&sent, "envelope_id")), "the log belongs to another run");
    let named_identities = [("alice", &alice), ("bob", &bob), ("the sibling", &sibling)];
    let mut secrets = vec![
        ("the message".to_owned(), MESSAGE),
        ("the webhook secret".to_owned(), secret.strip_prefix("whsec_").unwrap()),
        ("the key-encryption key".to_owned(), kek.trim().strip_prefix("1:").unwrap()),
    ];
    assert!(log.contains("/dashboard/account/secret"), "the log has the dashboard's requests");
    for (name, secret, prefix) in [
        ("the rotated webhook secret", &rotated, "whsec_"),
        ("the rotated login secret", &login_secret, "ls_"),
        ("the cookie", &browser.cookie, "sealpost=st_"),
        ("the form token", &form_token, ""),
    ] {
        secrets.push((name.to_owned(), secret.strip_prefix(prefix).unwrap()));
    }
    for (name, identity) in named_identities {
        secrets.push((format!("the token of {name}"), &identity.token));
        secrets.push((format!("the DID of {name}"), &identity.did));
        let login_secret = identity.login_secret.as_deref();
        secrets.extend(login_secret.map(|secret| (format!("the login secret of {name}"), secret)));
    }
    let words = log.split(|symbol: char| !symbol.is_ascii_alphanumeric() && symbol != '_');
    let looks_secret = |word: &&str| {
        ["ls_", "st_", "whsec_"].iter().any(|prefix| word.starts_with(prefix)) && word.len() > 20
    };
    assert_eq!(words.filter(looks_secret).collect::<Vec<_>>(), [""; 0]);
    for (name, secret) in secrets {
        let line = log.lines().find(|line| line.contains(secret));
        assert_eq!(line, None, "{name} is logged");
    }
}

const MESSAGE: &str = "nobody-but-bob-may-read-this";
