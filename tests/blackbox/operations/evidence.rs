//! Tests of evidence about an envelope: who sees what, and the verification without the service, years later.

use std::{fs, path::Path};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::{
    Client, CommandResult, Database, Identity, Receiver, Response, Witness, binary, on_both,
    on_embedded, run, text, wait_until,
};

on_both!(
    evidence_verifies_years_later,
    evidence_shows_what_the_parties_show,
    evidence_is_for_the_parties_only,
);
on_embedded!(a_token_shows_only_its_side_of_an_envelope);

fn evidence(client: &Client, identity: &Identity, envelope: &str) -> Response {
    client.act(identity, "/v1/channel/evidence", &json!({"envelope_id": envelope}))
}

fn send(client: &Client, from: &Identity, to: &Identity) -> Value {
    client.send(from, &to.key, "hello").ok()
}

/// Verifies a file with a policy.
fn verify(folder: &Path, policy: &str, file: &str, more: &[&str]) -> CommandResult {
    let (policy_file, evidence) = (folder.join("policy"), folder.join("evidence"));
    fs::write(&policy_file, policy).unwrap();
    fs::write(&evidence, file).unwrap();
    let mut command = binary(&["verify-proof", "--json", "--policy"]);
    command.arg(policy_file).arg(evidence).args(more);
    run(command)
}

/// Returns the verified statement of evidence.
fn statement(folder: &TempDir, policy: &str, file: &str) -> Value {
    let result = verify(folder.path(), policy, file, &[]);
    let report: Value = serde_json::from_str(&result.stdout).expect(&result.stderr);
    assert_eq!((&report["valid"], &report["kind"]), (&json!(true), &json!("evidence")));
    report["statement"].clone()
}

fn evidence_verifies_years_later(database: &Database) {
    let folder = tempfile::tempdir().unwrap();
    let server = database.serve();
    let (alice, bob) = (server.new_identity(), server.new_identity());
    let log = server.log_key();
    server.stop();
    let witness = Witness::own("w.example.org", folder.path(), &log, 1);
    let policy = format!("log {log}\nwitness own {}\nquorum own\n", witness.key());
    let server = Witness::serve(database, &[&witness]);
    database.assess(&alice.key, ["1", "1", "1", "0"]);
    let badge = text(&server.act(&alice, "/v1/badges/issue", &json!({})).ok(), "badge_id");
    server.act(&bob, "/v1/did/policy", &json!({"receipts": "opened"})).ok();
    let receiver = Receiver::start();
    server.register(&bob, &receiver.url);
    let sent = send(&server, &alice, &bob);
    let envelope = text(&sent, "envelope_id");
    receiver.await_requests(1);
    server.open(&bob, &envelope).ok();
    wait_until("a witness has cosigned", || {
        database.count("log_heads WHERE witnessed IS NOT NULL") == 1
    });

    let files = [&alice, &bob].map(|party| {
        let evidence = evidence(&server, party, &envelope).ok();
        assert_eq!(evidence["cosigned"], true);
        let file = text(&evidence, "evidence");
        assert!(file.len() <= 16 * 1024, "{} bytes", file.len());
        file
    });
    let dids = [&alice, &bob].map(|it| text(&server.status(it).ok(), "did"));
    for file in &files {
        let statement = statement(&folder, &policy, file);
        for (name, value) in [
            ("envelope", &*envelope),
            ("hash", &text(&sent, "envelope_hash")),
            ("sender", &alice.key),
            ("recipient", &bob.key),
            ("sender_did", &dids[0]),
            ("recipient_did", &dids[1]),
            ("sender_badge", &badge),
            ("state", "opened"),
            (&format!("status of the key of {}", bob.key), "active"),
            (&format!("status of the badge of {}", alice.key), "valid"),
        ] {
            assert_eq!(statement[name], *value, "{name}: {statement}");
        }
        let time = |name| -> u64 { text(&statement, name).parse().unwrap() };
        assert!(time("sent_at") <= time("notified_at"), "{statement}");
        assert!(time("notified_at") <= time("opened_at"), "{statement}");
    }
    change_all(database, [&alice, &bob], &badge);
    server.stop();
    let server = database.serve_with(&["--base-url=https://other.example.org"]);
    assert_eq!(server.log_key(), log, "the log keeps its name and its key");
    server.stop();
    for file in &files {
        statement(&folder, &policy, file);
        let verify =
            |policy: &str, file: &str| verify(folder.path(), policy, file, &["--at", "4102444800"]);
        assert_eq!(verify(&policy, file).status, Some(0));
        let aged = verify(&format!("{policy}max-age 600\n"), file);
        assert!(aged.stderr.contains("the quorum is missing"), "{}", aged.stderr);
        let other = verify(&policy, &file.replacen("index ", "index 1", 1));
        assert_eq!(other.status, Some(1), "{}", other.stderr);
    }
}

/// Rotates the issuer key, and ends the badge, the sender and the recipient.
fn change_all(database: &Database, [sender, recipient]: [&Identity; 2], badge: &str) {
    database.operate(&["issuer", "rotate"]);
    database.operate(&["badge", "revoke", badge, "--reason", "withdrawn"]);
    database.operate(&["key", "revoke", &sender.key]);
    database.operate(&["account", "close", &recipient.account]);
    database.operate(&["account", "erase", &recipient.account]);
}

fn evidence_shows_what_the_parties_show(database: &Database) {
    let folder = tempfile::tempdir().unwrap();
    let server = database.serve();
    let [alice, bob, carol] = [(); 3].map(|()| server.new_identity());
    let policy = format!("log {}\nquorum none\n", server.log_key());
    let hidden = json!({"receipts": "none", "listed": false});
    server.act(&bob, "/v1/did/policy", &hidden).ok();
    let envelope = text(&send(&server, &alice, &bob), "envelope_id");
    server.open(&bob, &envelope).ok();
    let shown = |party: &Identity, envelope: &str| {
        let evidence = evidence(&server, party, envelope).ok();
        assert_eq!(evidence["cosigned"], false, "there is no witness");
        statement(&folder, &policy, &text(&evidence, "evidence"))
    };
    let to_alice = shown(&alice, &envelope);
    assert_eq!(to_alice["state"], "sent");
    assert!(to_alice["sender_did"].is_string() && to_alice["envelope_entry"].is_string());
    for hidden in ["recipient_did", "opened_at", "notified_at"] {
        assert!(to_alice.get(hidden).is_none(), "{hidden}: {to_alice}");
    }
    let to_bob = shown(&bob, &envelope);
    assert_eq!(to_bob["state"], "opened");
    assert!(to_bob["recipient_did"].is_string() && to_bob["sender_did"].is_string());

    let envelope = text(&send(&server, &alice, &carol), "envelope_id");
    assert!(shown(&alice, &envelope)["recipient_did"].is_string());
    database.operate(&["account", "close", &carol.account]);
    database.operate(&["account", "erase", &carol.account]);
    let erased = shown(&alice, &envelope);
    assert!(erased["hash"].is_string() && erased["envelope_entry"].is_string());
    assert!(erased.get("recipient_did").is_none(), "{erased}");
}

fn a_token_shows_only_its_side_of_an_envelope(database: &Database) {
    let server = database.serve();
    let (alice, bob) = (server.new_identity(), server.new_identity());
    server.log_key();
    let sent = send(&server, &alice, &bob);
    let to_self = send(&server, &alice, &alice);
    let ask = |who: &Identity, scope: &str, envelope: &Value| {
        let body = json!({"envelope_id": envelope["envelope_id"]});
        let token = server.token_with(who, &[scope]);
        server.post("/v1/channel/evidence").token(&token).json(&body).response()
    };
    ask(&alice, "open", &sent).refused(403, "INSUFFICIENT_SCOPE");
    ask(&bob, "send", &sent).refused(403, "INSUFFICIENT_SCOPE");
    ask(&alice, "send", &sent).ok();
    ask(&bob, "open", &sent).ok();
    ask(&alice, "send", &to_self).ok();
    ask(&alice, "open", &to_self).ok();
}

fn evidence_is_for_the_parties_only(database: &Database) {
    let server = database.serve();
    let [alice, bob, mallory] = [(); 3].map(|()| server.new_identity());
    let envelope = text(&send(&server, &alice, &bob), "envelope_id");
    let entries = || database.count("log_entries WHERE number >= 0");
    evidence(&server, &alice, &envelope).ok();
    let before = entries();
    for unknown in [&*envelope, "env_00000000000000000000000000", "ak_1"] {
        evidence(&server, &mallory, unknown).refused(404, "ENVELOPE_NOT_FOUND");
    }
    server.act(&alice, "/v1/channel/evidence", &json!({})).refused(400, "MISSING_FIELD");
    assert_eq!(entries(), before, "a refused request appends nothing");
    evidence(&server, &bob, &envelope).ok();
    for (scope, is_allowed) in [("send", true), ("read", false), ("webhooks", false)] {
        let token = server.token_with(&alice, &[scope]);
        let body = json!({"envelope_id": envelope});
        let response = server.post("/v1/channel/evidence").token(&token).json(&body).response();
        assert_eq!(response.status, if is_allowed { 200 } else { 403 }, "{scope}");
    }
}
