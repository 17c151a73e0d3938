//! Tests of compliance circuits (the required checks of a jurisdiction): attestations by operators, explanations for
//! callers, and reloads of the circuits file.

use std::fs;

use serde_json::{Value, json};

use crate::support::{Client, Database, Identity, on_both, on_embedded, run, text, wait_until};

on_both!(validation_explains_every_check_until_the_circuit_is_satisfied,);
on_embedded!(
    a_badge_may_require_a_circuit,
    a_circuits_file_is_reloaded_and_a_broken_file_is_not_used,
    changed_circuits_without_a_new_version_cause_a_warning,
    a_broken_circuits_file_is_rejected_at_startup,
);

fn validate(client: &Client, identity: &Identity, jurisdiction: &str) -> Value {
    client.act(identity, "/v1/compliance/validate", &json!({"jurisdiction": jurisdiction})).ok()
}

/// Returns the name and the status of every check.
fn checks(response: &Value) -> Vec<(String, String)> {
    let checks = response["checks"].as_array().unwrap();
    checks.iter().map(|check| (text(check, "name"), text(check, "status"))).collect()
}

fn attest(database: &Database, identity: &Identity, more: &[&str]) -> Value {
    database.operate(&[&["attest", &identity.key, "--check"], more].concat())
}

fn validation_explains_every_check_until_the_circuit_is_satisfied(database: &Database) {
    let server = database.serve();
    let alice = server.new_identity();
    attest(database, &alice, &["identity_verified", "--valid-until", "2099-01-31"]);
    attest(database, &alice, &["uk_gdpr_processing_agreement", "--valid-until", "2020-01-31"]);
    let failed = attest(database, &alice, &["sanctions_screened", "--failed", "--reason", "a hit"]);
    assert_eq!((&failed["failed"], &failed["reason"]), (&json!(true), &json!("a hit")));
    let ask = |body: Value| server.act(&alice, "/v1/compliance/validate", &body);
    let refused = ask(json!({"jurisdiction": "UK"})).refused(422, "COMPLIANCE_CIRCUIT_FAILED");
    let is = |name: &str, status: &str| (name.to_owned(), status.to_owned());
    let expected = [
        is("identity_verified", "passed"),
        is("uk_gdpr_processing_agreement", "expired"),
        is("ico_registered", "missing"),
        is("sanctions_screened", "failed"),
    ];
    assert_eq!((checks(&refused), &refused["jurisdiction"]), (expected.to_vec(), &json!("UK")));
    assert_eq!(refused["checks"][1]["valid_until"], "2020-01-31T00:00:00.000Z");
    let tried = ask(json!({"jurisdiction": "UK", "dry_run": true})).ok();
    assert_eq!((checks(&tried), &tried["passed"]), (expected.to_vec(), &json!(false)));
    assert_eq!(tried["refusals"][0]["code"], "COMPLIANCE_CIRCUIT_FAILED");

    for check in ["uk_gdpr_processing_agreement", "ico_registered", "sanctions_screened"] {
        attest(database, &alice, &[check]);
    }
    let held = validate(&server, &alice, "uk");
    assert_eq!((&held["passed"], &held["jurisdiction"]), (&json!(true), &json!("UK")));
    assert!(checks(&held).iter().all(|(_, status)| status == "passed"));
    // The circuit shortens the validity that the operator attested.
    assert_ne!(held["checks"][0]["valid_until"], "2099-01-31T00:00:00.000Z");
    assert_eq!(held["checks"][1]["valid_until"], Value::Null);

    assert_eq!(ask(json!({})).refused(400, "MISSING_FIELD")["field"], "jurisdiction");
    let unknown = ask(json!({"jurisdiction": "FR"})).refused(400, "INVALID_FIELD");
    assert_eq!(unknown["field"], "jurisdiction");
    assert!(text(&unknown, "detail").contains("DEFAULT, EU, UK, US"));
    for wrong in [&["Ident"][..], &["a", "--valid-until", "soon"]] {
        let command = [&["attest", &alice.key, "--check"], wrong].concat();
        database.operate_refused(2, &command);
    }
    assert_eq!(database.audit()[2]["action"], "attestation.record");
}

fn a_badge_may_require_a_circuit(database: &Database) {
    let server = database.serve();
    let alice = server.new_identity();
    database.assess(&alice.key, ["1", "1", "1", "0"]);
    let ask = || server.act(&alice, "/v1/badges/issue", &json!({"jurisdiction": "default"}));
    let refused = ask().refused(422, "COMPLIANCE_CIRCUIT_FAILED");
    assert_eq!(checks(&refused).len(), 2);
    for check in ["identity_verified", "sanctions_screened"] {
        attest(database, &alice, &[check]);
    }
    let badge = ask().ok();
    let page = server.request("GET", &format!("/badges/{}", text(&badge, "badge_id"))).response();
    assert!(String::from_utf8(page.body).unwrap().contains("DEFAULT"));
    let claims = crate::support::Verifier::claims_of(&text(&badge, "credential"));
    assert_eq!(claims["credentialSubject"]["result"][4]["value"], "DEFAULT, circuits version 1");
}

fn a_circuits_file_is_reloaded_and_a_broken_file_is_not_used(database: &Database) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("circuits.toml");
    let write = |name: &str| {
        let text = format!("version = 1\n[jurisdictions.{name}]\nchecks = [{{name = 'seat'}}]");
        fs::write(&file, text).unwrap();
    };
    write("FR");
    let server = database.serve_with(&["--circuits", &file.display().to_string()]);
    let alice = server.new_identity();
    // The polls below need a higher limit.
    database.set_enterprise(&alice.key, [10_000, 10_000, 10_000, 100]);
    attest(database, &alice, &["seat"]);
    validate(&server, &alice, "FR");
    let knows = |name: &str| {
        let body = json!({"jurisdiction": name});
        server.act(&alice, "/v1/compliance/validate", &body).status == 200
    };
    assert!(!knows("EU"), "the built-in circuits are gone");

    write("DE");
    server.hang_up();
    wait_until("the file is reloaded", || knows("DE"));
    assert!(!knows("FR"));

    fs::write(&file, "version = 1\n[jurisdictions.IT]\nchecks = [{name = 'seat', valid = 1}]")
        .unwrap();
    server.hang_up();
    wait_until("the log names the fault", || {
        let log = server.log();
        log.contains("the circuits stay as they were") && log.contains("valid")
    });
    assert!(knows("DE") && !knows("IT"));

    write("IT");
    server.hang_up();
    wait_until("a fixed file applies", || knows("IT"));
}

fn changed_circuits_without_a_new_version_cause_a_warning(database: &Database) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("circuits.toml");
    let write = |version: u32, check: &str| {
        let circuit = format!("[jurisdictions.FR]\nchecks = [{{name = '{check}'}}]");
        fs::write(&file, format!("version = {version}\n{circuit}")).unwrap();
    };
    write(1, "seat");
    let server = database.serve_with(&["--circuits", &file.display().to_string()]);
    let reported = |what: &str| server.log().matches(what).count();
    let mut times_read = 0;
    let mut reread = || {
        server.hang_up();
        times_read += 1;
        wait_until("the file is reloaded", || reported("circuits read") == times_read);
    };
    reread();
    write(2, "kyc");
    reread();
    write(2, "seat");
    reread();
    // A fourth reload completes the log of the third.
    reread();
    assert_eq!(reported("their version has not; raise it"), 1, "{}", server.log());
}

fn a_broken_circuits_file_is_rejected_at_startup(database: &Database) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("circuits.toml");
    let start = || {
        let ended = run(database.command(&["--circuits", &file.display().to_string()]));
        assert_eq!((ended.status, ended.stdout.as_str()), (Some(1), ""));
        assert_eq!(ended.stderr.trim().lines().last().unwrap_or_default(), ended.stderr.trim());
        ended.stderr
    };
    assert!(start().contains("cannot be read"));
    for (text, says) in [
        ("version = 1", "missing field"),
        ("version = 1\n[jurisdictions.FR]\nchecks = []", "no required check"),
        (
            "version = 1\n[jurisdictions.FR]\nchecks = [{name = 'seat', any_of = []}]",
            "any_of of seat is empty",
        ),
        (&"#".repeat(262_145), "longer than 262144 bytes"),
    ] {
        fs::write(&file, text).unwrap();
        let reported = start();
        assert!(reported.contains(says) && reported.contains("circuits.toml"), "{reported}");
    }
}
