//! Real verifiers: the `standardwebhooks` packages for Rust, Python and Node, and the test vectors. What they accept
//! and refuse is their own; the notices are those of a real server.

use std::{
    io::Write as _,
    path::Path,
    process::{Command, Stdio},
    time::Duration,
};

use serde_json::{Value, json};
use standardwebhooks::Webhook;
use ureq::http::{HeaderMap, HeaderName};

use crate::support::{
    Client, Database, Notice, Reaction, Receiver, Signed, eventually, node_folder, on_both, pinned,
    python, text,
};

on_both!(
    every_library_accepts_every_notice_and_refuses_an_altered_or_old_one,
    every_library_accepts_every_notice_while_a_secret_rotates,
    whoever_has_the_published_keys_needs_no_secret,
);

fn every_library_accepts_every_notice_and_refuses_an_altered_or_old_one(database: &Database) {
    let server = database.serve_with(&["--webhook-retry-schedule", "1100ms,100ms"]);
    let client = server.client();
    // The first is sent again, with another timestamp and so another signature.
    let receiver = Receiver::reacting(|nth| Reaction::Answer(if nth == 0 { 500 } else { 204 }));
    let (alice, bob) = (client.newcomer(), client.newcomer());
    let secret = text(&client.register(&bob, &receiver.url), "secret");
    for message in ["one", "two", "three"] {
        client.send(&alice, &bob.key, message).ok();
    }
    agree_on(&receiver.await_notices(4), &[&secret]);
}

fn every_library_accepts_every_notice_while_a_secret_rotates(database: &Database) {
    let server = database.serve();
    let (client, receiver) = (server.client(), Receiver::start());
    let (alice, bob) = (client.newcomer(), client.newcomer());
    let registered = client.register(&bob, &receiver.url);
    let old = text(&registered, "secret");
    client.send(&alice, &bob.key, "before").ok();
    agree_on(&receiver.await_notices(1), &[&old]);
    let rotate = json!({"action": "rotate_secret", "webhook_id": registered["webhook_id"]});
    let new = text(&client.manage(&bob, &rotate).ok(), "secret");
    for message in ["one", "two"] {
        client.send(&alice, &bob.key, message).ok();
    }
    agree_on(&receiver.await_notices(3)[1..], &[&old, &new]);
}

/// By the keys of `did.json`, before and after the service has changed its key.
fn whoever_has_the_published_keys_needs_no_secret(database: &Database) {
    let server = database.serve();
    let (client, receiver) = (server.client(), Receiver::start());
    let (alice, bob) = (client.newcomer(), client.newcomer());
    database.set_enterprise(&alice.key, [100_000, 100_000, 100_000, 1_000]);
    client.register(&bob, &receiver.url);
    client.send(&alice, &bob.key, "by the first key").ok();
    let first = published(client);
    let notice = Signed::from(&receiver.await_notices(1)[0]);
    agree_by_public_key(&notice, &first[0]);
    database.operate(&["issuer", "rotate"]);
    eventually("a notice is signed with the new key", Duration::from_secs(30), || {
        client.send(&alice, &bob.key, "by which key?").ok();
        let both = published(client);
        let newest = both.iter().find(|key| !first.contains(key))?;
        let newest_notice = Signed::from(receiver.notices().last()?);
        let is_new = judged(&[by_public_key(&newest_notice, newest, true)]);
        let signed = is_new.then_some(newest_notice)?;
        agree_by_public_key(&signed, newest);
        // What the first key signed goes on to verify by what is published now.
        agree_by_public_key(&notice, both.iter().find(|key| **key == first[0]).unwrap());
        Some(())
    });
}

/// The service's keys, in the form of Standard Webhooks.
fn published(client: &Client) -> Vec<String> {
    let document = client.request("GET", "/.well-known/did.json").answer().json();
    let methods = document["verificationMethod"].as_array().unwrap();
    methods.iter().map(|method| text(method, "standardWebhooksKey")).collect()
}

#[track_caller]
fn agree_by_public_key(notice: &Signed, key: &str) {
    let mut cases = vec![by_public_key(notice, key, true)];
    cases.extend(notice.flipped().iter().map(|altered| by_public_key(altered, key, false)));
    assert!(judged(&cases));
}

fn by_public_key(notice: &Signed, key: &str, is_valid: bool) -> Value {
    let mut case = case(notice, "", is_valid);
    (case["secrets"], case["public_key"]) = (json!([]), json!(key));
    case
}

/// Whether Python and Node say of each what is expected.
fn judged(cases: &[Value]) -> bool {
    let expected: Vec<_> = cases.iter().map(|case| case["valid"] == true).collect();
    by_python(cases) == expected && by_node(cases) == expected
}

#[test]
fn every_library_accepts_a_notice_of_two_secrets_with_either() {
    let secrets = [
        "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD",
        "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=",
    ];
    let mut notice = Signed::with(&secrets, 0);
    agree(&[notice.clone()], &secrets);
    // What the service adds for those who know its public key disturbs nobody.
    notice.signature = format!("{} {}", notice.signature, Signed::asymmetric(0).signature);
    agree(&[notice], &secrets);
}

#[test]
fn every_library_agrees_with_every_test_vector() {
    let vectors = include_str!("../../../docs/examples/webhook-vectors.json");
    let vectors: Value = serde_json::from_str(vectors).unwrap();
    let cases = vectors["cases"].as_array().unwrap();
    for (language, verdicts) in [("Python", by_python(cases)), ("Node", by_node(cases))] {
        for (case, verdict) in cases.iter().zip(verdicts) {
            assert_eq!(case["valid"], verdict, "{language}: {}", case["name"]);
        }
    }
}

/// Each library accepts each notice with each of these secrets, and none that is altered.
#[track_caller]
fn agree_on(notices: &[Notice], secrets: &[&str]) {
    let notices: Vec<_> = notices.iter().map(Signed::from).collect();
    agree(&notices, secrets);
}

#[track_caller]
fn agree(notices: &[Signed], secrets: &[&str]) {
    let mut cases = Vec::new();
    for (notice, secret) in
        notices.iter().flat_map(|notice| secrets.iter().map(move |one| (notice, *one)))
    {
        cases.push(case(notice, secret, true));
        cases.extend(notice.flipped().iter().map(|altered| case(altered, secret, false)));
        let old = Signed::with(secrets, 301).saying(&notice.body, secrets);
        cases.push(case(&old, secret, false));
        // The same a little younger shows that it is the time alone.
        let young = Signed::with(secrets, 200).saying(&notice.body, secrets);
        cases.push(case(&young, secret, true));
    }
    let by_rust: Vec<_> = cases.iter().map(by_rust).collect();
    for (language, verdicts) in
        [("Rust", by_rust), ("Python", by_python(&cases)), ("Node", by_node(&cases))]
    {
        assert_eq!(verdicts.len(), cases.len());
        for (case, verdict) in cases.iter().zip(verdicts) {
            assert_eq!(case["valid"], verdict, "{language}: {case}");
        }
    }
}

fn case(notice: &Signed, secret: &str, is_valid: bool) -> Value {
    json!({
        "secrets": [secret],
        "public_key": null,
        "headers": {
            "webhook-id": notice.id,
            "webhook-timestamp": notice.timestamp,
            "webhook-signature": notice.signature,
        },
        "body": notice.body,
        "now": null,
        "valid": is_valid,
    })
}

fn by_rust(case: &Value) -> bool {
    let mut headers = HeaderMap::new();
    for (name, value) in case["headers"].as_object().unwrap() {
        headers.insert(
            HeaderName::from_bytes(name.as_bytes()).unwrap(),
            value.as_str().unwrap().parse().unwrap(),
        );
    }
    let webhook = Webhook::new(case["secrets"][0].as_str().unwrap()).unwrap();
    webhook.verify(case["body"].as_str().unwrap().as_bytes(), &headers).is_ok()
}

fn by_python(cases: &[Value]) -> Vec<bool> {
    let mut command = Command::new(python());
    verdicts(command.arg(pinned("verify.py")), cases)
}

fn by_node(cases: &[Value]) -> Vec<bool> {
    let folder = tempfile::tempdir_in(node_folder()).unwrap();
    let program = folder.path().join("verify.mjs");
    std::fs::copy(pinned("verify.mjs"), &program).unwrap();
    verdicts(Command::new("node").arg(Path::new(&program)), cases)
}

#[track_caller]
fn verdicts(command: &mut Command, cases: &[Value]) -> Vec<bool> {
    let command = command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut process = command.spawn().unwrap();
    let mut stdin = process.stdin.take().unwrap();
    stdin.write_all(json!(cases).to_string().as_bytes()).unwrap();
    drop(stdin);
    let ended = process.wait_with_output().unwrap();
    assert!(ended.status.success(), "{command:?}");
    serde_json::from_slice(&ended.stdout).unwrap()
}
