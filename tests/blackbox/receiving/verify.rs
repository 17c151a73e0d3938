//! Tests of `sealpost verify`, which checks one webhook request from files.

use std::{fs, os::unix::fs::PermissionsExt as _, path::Path};

use serde_json::{Value, json};

use crate::support::{CommandResult, PUBLIC_KEY, Signed, binary, private_file, run};

const SECRET: &str = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD";
const OTHER: &str = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";

#[test]
fn every_test_vector_gets_its_expected_result() {
    let vectors = include_str!("../../../docs/examples/webhook-vectors.json");
    let vectors: Value = serde_json::from_str(vectors).unwrap();
    for case in vectors["cases"].as_array().unwrap() {
        let headers = case["headers"].as_object().unwrap();
        let head: String = headers.iter().map(|(name, value)| line(name, value)).collect();
        let now = format!("--at={}", case["now"]);
        let secrets: Vec<_> = case["secrets"]
            .as_array()
            .unwrap()
            .iter()
            .map(|secret| secret.as_str().unwrap())
            .collect();
        let file = private_file(&secrets.join("\n"));
        let key = match case["public_key"].as_str() {
            Some(key) => format!("--public-key={key}"),
            None => format!("--secret-file={}", file.path().display()),
        };
        let ended = verify(&head, case["body"].as_str().unwrap(), &["--json", &now, &key]);
        let report: Value = serde_json::from_str(&ended.stdout).unwrap();
        assert_eq!(report["valid"], case["valid"], "{}", case["name"]);
        let status = i32::from(case["valid"] != true);
        assert_eq!(ended.status, Some(status), "{}", case["name"]);
        assert_eq!(ended.stderr.is_empty(), status == 0, "{}", case["name"]);
    }
}

#[test]
fn errors_name_the_exact_cause() {
    let (sound, file) = (Signed::with(&[SECRET], 0), private_file(SECRET));
    let key = format!("--secret-file={}", file.path().display());
    let at = format!("--at={}", sound.timestamp);
    let later = format!("--at={}", sound.timestamp.parse::<i64>().unwrap() + 1234);
    let head = sound.head();
    let other = Signed { body: sound.body.replace("sender", "sendes"), ..sound.clone() };
    let length = format!("{head}Content-Length: {}\n", sound.body.len() + 1);
    let (unsigned, body) = (head.replace("webhook-signature:", "x:"), &sound.body);
    for (head, body, at, fault, words) in [
        (&head.replace("webhook-id:", "id:"), body, &at, "header_missing", "webhook-id"),
        (&unsigned, body, &at, "header_missing", "webhook-signature"),
        (&format!("{head}{head}"), body, &at, "header_repeated", "more than once"),
        (&head.replace(&sound.timestamp, "noon"), body, &at, "timestamp_unreadable", "seconds"),
        (&head, body, &later, "stale", "1234 s old"),
        (&head, &other.body, &at, "no_match", "v1"),
        (&head, &format!("{}\n", sound.body), &at, "no_match", "without the newline"),
        (&length, &other.body, &at, "no_match", "Content-Length"),
        (&head.replace("v1,", "v1a,"), body, &at, "no_match", "there are: v1a"),
        (&format!("{head}X-Service-Signature: v1,AAAA\n"), &other.body, &at, "no_match", "differ"),
    ] {
        let ended = verify(head, body, &["--json", &key, at]);
        let report: Value = serde_json::from_str(&ended.stdout).unwrap();
        assert_eq!((ended.status, &report["fault"]), (Some(1), &json!(fault)), "{words}");
        let reported = format!("{} {}", report["detail"], report["hints"]);
        assert!(reported.contains(words), "{reported}");
        assert_eq!(ended.stderr.lines().count(), 1, "{}", ended.stderr);
        let for_people = verify(head, body, &[&key, at]);
        assert!(for_people.stdout.contains(words), "{}", for_people.stdout);
        for text in [&ended.stdout, &ended.stderr, &for_people.stdout, &for_people.stderr] {
            assert!(!text.contains("C2FVs"), "a secret is shown: {text}");
        }
    }
}

/// The expected hash was computed with `printf '%s' msg_1.1000000.{} | sha256sum`.
#[test]
fn the_signed_bytes_are_shown_as_length_and_hash() {
    let head = "webhook-id: msg_1\nwebhook-timestamp: 1000000\nwebhook-signature: v1,AAAA\n";
    let key = format!("--public-key={PUBLIC_KEY}");
    let ended = verify(head, "{}", &["--json", "--at=1000000", &key]);
    let report: Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!(report["signed_bytes"], 16);
    assert_eq!(report["signed_sha256"], SHA_256);
}

#[test]
fn keys_come_from_files_the_environment_and_a_did_document() {
    let (symmetric, asymmetric) = (Signed::with(&[SECRET], 0), Signed::asymmetric(0));
    let files = Files::new(&symmetric.head(), &symmetric.body);
    let mut command = binary(&files.arguments());
    command.env("SEALPOST_WEBHOOK_SECRET", format!("{OTHER},{SECRET}"));
    assert!(run(command).stdout.contains("made with secret 2 of SEALPOST_WEBHOOK_SECRET"));

    let both = private_file(&format!("{OTHER}\r\n{SECRET}\r\n"));
    let by_file = verify(&symmetric.head(), &symmetric.body, &["--secret-file", path(both.path())]);
    assert_eq!(by_file.status, Some(0), "{by_file:?}");

    // The DID document of the same key, in the form of the did:key method.
    let did = "z6MkvDqGT54cXesYGvABpF1UapVNwjCqRcafi4Px6Thv5T3Z";
    let method = json!({"type": "Multikey", "publicKeyMultibase": did});
    let document = private_file(&json!({"verificationMethod": [method]}).to_string());
    let by_did =
        verify(&asymmetric.head(), &asymmetric.body, &["--did-json", path(document.path())]);
    assert!(by_did.stdout.contains(&format!("made with public key {PUBLIC_KEY}")), "{by_did:?}");
    let old = Signed::asymmetric(1000);
    let by_did = verify(&old.head(), &old.body, &["--did-json", path(document.path())]);
    assert_eq!(by_did.status, Some(1));
}

#[test]
fn a_text_file_may_have_a_byte_order_mark_but_a_body_is_exact() {
    let (sound, file) = (Signed::with(&[SECRET], 0), private_file(&format!("\u{feff}{SECRET}")));
    let key = format!("--secret-file={}", file.path().display());
    let at = format!("--at={}", sound.timestamp);
    let head = format!("\u{feff}{}", sound.head());
    assert_eq!(verify(&head, &sound.body, &[&key, &at]).status, Some(0));
    let marked = format!("\u{feff}{}", sound.body);
    assert_eq!(verify(&head, &marked, &[&key, &at]).status, Some(1));
    let document = private_file("\u{feff}[]");
    let arguments = [&format!("--did-json={}", document.path().display()), &*at];
    let ended = verify(&head, &sound.body, &arguments);
    assert!(ended.stderr.contains("no DID document"), "{ended:?}");
}

#[test]
fn input_that_cannot_be_checked_is_a_usage_error_without_secrets() {
    let request = Signed::with(&[SECRET], 0);
    let open = private_file(SECRET);
    fs::set_permissions(open.path(), fs::Permissions::from_mode(0o644)).unwrap();
    let endless = " ".repeat(65_537);
    let [unprefixed, empty, list, endless] =
        [SECRET.strip_prefix("whsec_").unwrap(), "", "[]", &endless].map(private_file);
    for (arguments, words) in [
        (vec![], "no key is given"),
        (vec!["--secret-file", path(open.path())], "chmod 600"),
        (vec!["--secret-file", path(unprefixed.path())], "whsec_ and"),
        (vec!["--secret-file", path(empty.path())], "is empty"),
        (vec!["--secret-file", path(endless.path())], "longer than 65536 bytes"),
        (vec!["--secret-file", "/nowhere"], "/nowhere cannot be read"),
        (vec!["--did-json", path(list.path())], "no DID document"),
        (vec!["--public-key", "whpk_AAAA"], "whpk_ and the base64"),
        (vec!["--public-key", PUBLIC_KEY, "--body", "/nowhere"], "/nowhere"),
    ] {
        let ended = verify(&request.head(), &request.body, &arguments);
        assert_eq!((ended.status, ended.stdout.as_str()), (Some(2), ""), "{arguments:?}");
        assert!(ended.stderr.contains(words), "{words}: {}", ended.stderr);
        assert!(!ended.stderr.contains("C2FVs"), "{}", ended.stderr);
        assert_eq!(ended.stderr.lines().count(), 1);
    }
}

fn verify(head: &str, body: &str, arguments: &[&str]) -> CommandResult {
    let files = Files::new(head, body);
    let mut command = binary(&files.arguments());
    // The last of two `--body` arguments applies.
    if let [.., "--body", file] = arguments {
        command = binary(&["verify", "--headers", path(files.head.path()), "--body", file]);
        command.args(&arguments[..arguments.len() - 2]);
    } else {
        command.args(arguments);
    }
    run(command)
}

struct Files {
    head: tempfile::NamedTempFile,
    body: tempfile::NamedTempFile,
}

impl Files {
    fn new(head: &str, body: &str) -> Self {
        Self { head: private_file(head), body: private_file(body) }
    }

    fn arguments(&self) -> [&str; 5] {
        ["verify", "--headers", path(self.head.path()), "--body", path(self.body.path())]
    }
}

fn line(name: &str, value: &Value) -> String {
    format!("{name}: {}\r\n", value.as_str().unwrap())
}

fn path(path: &Path) -> &str {
    path.to_str().unwrap()
}

const SHA_256: &str = "b800205c316a9db7ddd8474a2d7c77883739af8e84ffd190829a9462d8579fbc";
