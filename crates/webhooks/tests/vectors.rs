//! Checks the file of test vectors for receivers. The file must equal the output of the generator. This crate and the
//! reference library must agree with the verdicts in the file.

#![expect(clippy::indexing_slicing, clippy::unwrap_used, reason = "a test fails by panicking")]

#[expect(dead_code, reason = "the test does not use its main function")]
#[path = "../examples/vectors.rs"]
mod generator;

use sealpost_domain::Timestamp;
use sealpost_wallet::WebhookSecret;
use sealpost_webhooks::{SignedHeaders, VerifyError, verify, verify_asymmetric};
use serde_json::Value;
use standardwebhooks::Webhook;

const FILE: &str = include_str!("../../../docs/examples/webhook-vectors.json");

#[test]
fn the_file_equals_the_output_of_the_generator() {
    // Compared as values, because features of serde_json change the order of members.
    let file: Value = serde_json::from_str(FILE).unwrap();
    let is_same = generator::vectors().unwrap() == file;
    assert!(is_same, "write the file again: see the first lines of examples/vectors.rs");
}

#[test]
fn verification_agrees_with_every_verdict() {
    for case in cases() {
        assert_eq!(is_authentic(&case), case["valid"].as_bool().unwrap(), "{}", case["name"]);
    }
}

/// Compares signatures instead of verifying requests, because the reference library verifies by the system clock.
#[test]
fn the_reference_library_signs_every_timely_case_identically() {
    for case in cases().iter().filter(|case| case["public_key"].is_null() && is_timely(case)) {
        let [id, timestamp, signature] = headers(case);
        let signed_by = |secret: &Value| {
            let webhook = Webhook::new(secret.as_str().unwrap()).unwrap();
            let body = case["body"].as_str().unwrap().as_bytes();
            let entry = webhook.sign(id, timestamp.parse().unwrap(), body).unwrap();
            signature.split(' ').any(|given| given == entry)
        };
        let is_signed = case["secrets"].as_array().unwrap().iter().any(signed_by);
        assert_eq!(is_signed, case["valid"].as_bool().unwrap(), "{}", case["name"]);
    }
}

#[test]
fn all_kinds_of_cases_exist() {
    let cases = cases();
    for is_valid in [true, false] {
        for is_asymmetric in [true, false] {
            let of_kind = |case: &&Value| {
                case["valid"] == is_valid && case["public_key"].is_string() == is_asymmetric
            };
            assert!(cases.iter().filter(of_kind).count() >= 2);
        }
    }
}

fn is_authentic(case: &Value) -> bool {
    let [id, timestamp, signature] = headers(case);
    let signed = SignedHeaders { id, timestamp, signature };
    let now = Timestamp::from_millis(case["now"].as_i64().unwrap() * 1000);
    let body = case["body"].as_str().unwrap().as_bytes();
    let by_secret = |secret: &Value| {
        let secret = WebhookSecret::parse(secret.as_str().unwrap()).unwrap();
        verify(&secret, &signed, body, now)
    };
    let mut verdicts: Vec<Result<(), VerifyError>> =
        case["secrets"].as_array().unwrap().iter().map(by_secret).collect();
    if let Some(key) = case["public_key"].as_str() {
        verdicts.push(verify_asymmetric(&key.parse().unwrap(), &signed, body, now));
    }
    verdicts.iter().any(Result::is_ok)
}

fn is_timely(case: &Value) -> bool {
    let sent_at: i64 = headers(case)[1].parse().unwrap();
    case["now"].as_i64().unwrap().abs_diff(sent_at) <= 300
}

fn headers(case: &Value) -> [&str; 3] {
    ["webhook-id", "webhook-timestamp", "webhook-signature"]
        .map(|name| case["headers"][name].as_str().unwrap())
}

fn cases() -> Vec<Value> {
    let file: Value = serde_json::from_str(FILE).unwrap();
    file["cases"].as_array().unwrap().clone()
}
