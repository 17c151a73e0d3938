//! Tests that third-party libraries (`standardwebhooks` for Rust, Python and Node) verify webhook requests of a real
//! server and the test vectors.

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
    Client, Database, Reaction, Receiver, Signed, WebhookRequest, eventually, node_folder,
    on_embedded, pinned, python, text,
};

on_embedded!(
    every_library_accepts_every_request_and_rejects_altered_or_old_ones,
    every_library_accepts_every_request_during_a_secret_rotation,
    the_published_keys_verify_requests_without_a_secret,
);

fn every_library_accepts_every_request_and_rejects_altered_or_old_ones(database: &Database) {
    let server = database.serve_with(&["--webhook-retry-schedule", "1100ms,100ms"]);
    // The first request is retried with another timestamp and therefore another signature.
    let receiver = Receiver::reacting(|nth| Reaction::Status(if nth == 0 { 500 } else { 204 }));
    let (alice, bob) = (server.new_identity(), server.new_identity());
    let secret = text(&server.register(&bob, &receiver.url), "secret");
    for message in ["one", "two", "three"] {
        server.send(&alice, &bob.key, message).ok();
    }
    agree_on(&receiver.await_requests(4), &[&secret]);
}

fn every_library_accepts_every_request_during_a_secret_rotation(database: &Database) {
    let (server, receiver) = (database.serve(), Receiver::start());
    let (alice, bob) = (server.new_identity(), server.new_identity());
    let registered = server.register(&bob, &receiver.url);
    let old = text(&registered, "secret");
    server.send(&alice, &bob.key, "before").ok();
    agree_on(&receiver.await_requests(1), &[&old]);
    let rotate = json!({"action": "rotate_secret", "webhook_id": registered["webhook_id"]});
    let new = text(&server.manage(&bob, &rotate).ok(), "secret");
    for message in ["one", "two"] {
        server.send(&alice, &bob.key, message).ok();
    }
    agree_on(&receiver.await_requests(3)[1..], &[&old, &new]);
}

/// Verifies with the keys of `did.json`, before and after a rotation of the issuer key.
fn the_published_keys_verify_requests_without_a_secret(database: &Database) {
    let (server, receiver) = (database.serve(), Receiver::start());
    let (alice, bob) = (server.new_identity(), server.new_identity());
    database.set_enterprise(&alice.key, [100_000, 100_000, 100_000, 1_000]);
    server.register(&bob, &receiver.url);
    server.send(&alice, &bob.key, "by the first key").ok();
    let first = published(&server);
    let request = Signed::from(&receiver.await_requests(1)[0]);
    agree_by_public_key(&request, &first[0]);
    database.operate(&["issuer", "rotate"]);
    eventually("a request is signed with the new key", Duration::from_secs(30), || {
        server.send(&alice, &bob.key, "by which key?").ok();
        let both = published(&server);
        let newest = both.iter().find(|key| !first.contains(key))?;
        let newest_request = Signed::from(receiver.requests().last()?);
        let is_new = judged(&[by_public_key(&newest_request, newest, true)]);
        let signed = is_new.then_some(newest_request)?;
        agree_by_public_key(&signed, newest);
        // Requests signed with the first key still verify with the published keys.
        agree_by_public_key(&request, both.iter().find(|key| **key == first[0]).unwrap());
        Some(())
    });
}

/// Returns the published issuer keys in the text form of Standard Webhooks libraries. The document has each key twice.
fn published(client: &Client) -> Vec<String> {
    let document = client.get("/.well-known/did.json").json();
    let methods = document["verificationMethod"].as_array().unwrap();
    let keys = methods.iter().filter(|method| method["type"] == "JsonWebKey");
    keys.map(|method| text(method, "standardWebhooksKey")).collect()
}

#[track_caller]
fn agree_by_public_key(request: &Signed, key: &str) {
    let mut cases = vec![by_public_key(request, key, true)];
    cases.extend(request.flipped().iter().map(|altered| by_public_key(altered, key, false)));
    assert!(judged(&cases));
}

fn by_public_key(request: &Signed, key: &str, is_valid: bool) -> Value {
    let mut case = case(request, "", is_valid);
    (case["secrets"], case["public_key"]) = (json!([]), json!(key));
    case
}

/// Returns true if the Python and Node libraries give the expected result for each case.
fn judged(cases: &[Value]) -> bool {
    let expected: Vec<_> = cases.iter().map(|case| case["valid"] == true).collect();
    by_python(cases) == expected && by_node(cases) == expected
}

#[test]
fn every_library_accepts_a_request_signed_with_two_secrets() {
    let secrets = [
        "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD",
        "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=",
    ];
    let mut request = Signed::with(&secrets, 0);
    agree(&[request.clone()], &secrets);
    // The additional public-key signature does not disturb verifiers with a secret.
    request.signature = format!("{} {}", request.signature, Signed::asymmetric(0).signature);
    agree(&[request], &secrets);
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

/// Checks that each library accepts each request with each secret, and rejects every altered request.
#[track_caller]
fn agree_on(requests: &[WebhookRequest], secrets: &[&str]) {
    let requests: Vec<_> = requests.iter().map(Signed::from).collect();
    agree(&requests, secrets);
}

#[track_caller]
fn agree(requests: &[Signed], secrets: &[&str]) {
    let mut cases = Vec::new();
    for (request, secret) in
        requests.iter().flat_map(|request| secrets.iter().map(move |one| (request, *one)))
    {
        cases.push(case(request, secret, true));
        cases.extend(request.flipped().iter().map(|altered| case(altered, secret, false)));
        let old = Signed::with(secrets, 301).saying(&request.body, secrets);
        cases.push(case(&old, secret, false));
        // A younger copy is accepted, so only the age is at fault.
        let young = Signed::with(secrets, 200).saying(&request.body, secrets);
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

fn case(request: &Signed, secret: &str, is_valid: bool) -> Value {
    json!({
        "secrets": [secret],
        "public_key": null,
        "headers": {
            "webhook-id": request.id,
            "webhook-timestamp": request.timestamp,
            "webhook-signature": request.signature,
        },
        "body": request.body,
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
