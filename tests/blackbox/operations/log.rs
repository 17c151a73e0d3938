//! Tests of the transparency log: every node serves the same files, and a program of other authors verifies them.

use std::{
    fs,
    path::Path,
    process::Command,
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use super::{doctor, finds};
use crate::support::{
    Database, Identity, Pairs, Receiver, Response, Server, binary, eventually, has, on_both,
    on_embedded, python, root, run, text as text_of, wait_until,
};

on_both!(
    a_program_of_other_authors_verifies_the_log,
    the_proof_of_an_envelope_outlives_its_envelope,
    the_log_grows_by_few_entries_while_messages_are_sent,
    a_restored_log_is_not_extended_until_its_restart,
);
on_embedded!(
    a_proof_verifies_without_the_server,
    the_files_are_cacheable_and_only_those_of_the_tree,
);

/// A change is in the log within two seconds. The bound is wider, because tests share a machine.
const SOON: Duration = Duration::from_secs(20);

fn body(response: &Response) -> String {
    String::from_utf8(response.body.clone()).unwrap()
}

/// Returns the size of the log once it has at least this many entries.
fn grown(server: &Server, least: u64) -> u64 {
    eventually("the log grows", SOON, || {
        let checkpoint = server.get("/log/checkpoint");
        let text = (checkpoint.status == 200).then(|| body(&checkpoint))?;
        let size = text.lines().nth(1)?.parse().ok()?;
        (size >= least).then_some(size)
    })
}

/// Verifies the whole log and proofs with aics-tlog, and returns the entries of the log.
fn verified(server: &Server, proofs: &[&Path]) -> Vec<String> {
    let key = body(&server.get("/log/"));
    let program = root().join("tests/blackbox/oracles/log.py");
    let ran = Command::new(python())
        .args(["-B", "-W", "error"])
        .arg(program)
        .args([&format!("{}/log", server.url), key.trim()])
        .args(proofs)
        .output()
        .unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    serde_json::from_slice(&ran.stdout).unwrap()
}

fn a_program_of_other_authors_verifies_the_log(database: &Database) {
    let nodes = database.serve_on_every_node();
    let alice = nodes[0].new_identity();
    for server in nodes.iter().cycle().take(4) {
        server.new_identity();
    }
    let folder = tempfile::tempdir().unwrap();
    let proof = folder.path().join("alice.tlog-proof");
    for node in &nodes {
        grown(node, 5);
        fs::write(&proof, proof_of(node, &alice)).unwrap();
        let entries = verified(node, &[&proof]);
        assert!(entries.len() >= 5, "{entries:?}");
        for entry in entries {
            let lines: Vec<_> = entry.lines().collect();
            assert_eq!((lines.len(), lines[0], lines[1]), (4, "sealpost/log/v1", "key"), "{entry}");
            assert!(!entry.contains(&alice.key), "an entry names a key");
        }
    }
}

/// Returns the proof of an identity, whose newest change is in the log.
fn proof_of(server: &Server, identity: &Identity) -> String {
    let status = server.act(identity, "/v1/did/status", &json!({"proof": true})).ok();
    text_of(&status, "proof")
}

fn a_proof_verifies_without_the_server(database: &Database) {
    let server = database.serve();
    let alice = server.new_identity();
    let status = server.status(&alice).ok();
    assert!(status.get("proof").is_none(), "nobody asked for it");
    grown(&server, 1);
    let (text, key) = (proof_of(&server, &alice), body(&server.get("/log/")));
    drop(server);
    let folder = tempfile::tempdir().unwrap();
    let (proof, policy) = (folder.path().join("proof"), folder.path().join("policy"));
    fs::write(&proof, &text).unwrap();
    fs::write(&policy, format!("log {key}quorum none\n")).unwrap();
    let verify = |more: &[&str]| {
        let mut command = binary(&["verify-proof", "--policy"]);
        command.arg(&policy).arg(&proof).args(more);
        run(command)
    };
    let report: Value = serde_json::from_str(&verify(&["--json"]).stdout).unwrap();
    assert_eq!((&report["valid"], &report["kind"]), (&json!(true), &json!("key")));
    let expected =
        [("key", &alice.key), ("did", &text_of(&status, "did")), ("status", &"active".to_owned())];
    for (name, value) in expected {
        assert_eq!(report["statement"][name], **value, "{report}");
    }
    let printed = verify(&[]).stdout;
    assert!(
        printed.starts_with("valid: entry 0 of 1 in the log ")
            && printed.contains("status: active\n"),
        "{printed}"
    );
    fs::write(&proof, text.replacen("index 0", "index 1", 1)).unwrap();
    let failed = verify(&[]);
    assert_eq!((failed.status, failed.stdout.as_str()), (Some(1), ""), "{}", failed.stderr);
    assert_eq!(
        failed.stderr,
        "sealpost: the proof is invalid: the checkpoint does not include the entry\n"
    );
    fs::write(&policy, format!("log {key}")).unwrap();
    let refused = verify(&[]);
    assert_eq!(refused.status, Some(2));
    assert!(refused.stderr.contains("the policy has no line 'quorum'"), "{}", refused.stderr);
}

fn the_proof_of_an_envelope_outlives_its_envelope(database: &Database) {
    let server = database.serve();
    let (alice, bob) = (server.new_identity(), server.new_identity());
    let ids =
        [(); 3].map(|()| text_of(&server.send(&alice, &bob.key, "hello").ok(), "envelope_id"));
    let plain = server.act(&alice, "/v1/channel/receipt", &json!({"envelope_id": ids[1]})).ok();
    assert!(plain.get("proof").is_none(), "nobody asked for it");
    wait_until("the envelopes are in the log", || {
        database.count("log_statements WHERE number IS NULL") == 0
    });
    let proof_of = |who, path: &str, id: &str| {
        let body = json!({"envelope_id": id, "proof": true});
        text_of(&server.act(who, path, &body).ok(), "proof")
    };
    let folder = tempfile::tempdir().unwrap();
    let files: Vec<_> = ids
        .iter()
        .flat_map(|id| {
            [("receipt", &alice), ("open", &bob)].map(|(action, who)| {
                let file = folder.path().join(format!("{id}.{action}"));
                fs::write(&file, proof_of(who, &format!("/v1/channel/{action}"), id)).unwrap();
                file
            })
        })
        .collect();
    let policy = folder.path().join("policy");
    let key = body(&server.get("/log/"));
    fs::write(&policy, format!("log {key}quorum none\n")).unwrap();
    database.operate(&["account", "erase", &alice.account]);
    let paths: Vec<_> = files.iter().map(std::path::PathBuf::as_path).collect();
    let entries = verified(&server, &paths);
    assert!(entries.iter().any(|entry| entry.contains("\nenvelopes\n")), "{entries:?}");
    server.stop();
    for (file, id) in files.iter().zip(ids.iter().flat_map(|id| [id, id])) {
        let mut command = binary(&["verify-proof", "--json", "--policy"]);
        command.arg(&policy).arg(file);
        let report: Value = serde_json::from_str(&run(command).stdout).unwrap();
        assert_eq!((&report["kind"], &report["valid"]), (&json!("envelopes"), &json!(true)));
        let statement = &report["statement"];
        assert_eq!(statement["envelope"], **id, "{report}");
        has(statement, &json!({"sender": alice.key, "recipient": bob.key}));
    }
}

fn the_log_grows_by_few_entries_while_messages_are_sent(database: &Database) {
    let (server, receiver) = (database.serve(), Receiver::start());
    let pairs = Pairs::activate(&server, &receiver);
    let entries = || database.count("log_statements WHERE kind = 'envelopes' AND number > -1");
    let (before, began) = (entries(), Instant::now());
    pairs.send_during(&server, || {
        wait_until("the log grows", || entries() >= before + 3);
    });
    let grown = entries() - before;
    let appends = i64::try_from(began.elapsed().as_secs()).unwrap() + 2;
    // An append of more than 256 commits makes further entries. Each commit has an envelope or more.
    let further = i64::try_from(pairs.count() / 256).unwrap();
    assert!(grown <= appends + further, "{grown} entries, {appends} appends, {further} further");
}

fn a_restored_log_is_not_extended_until_its_restart(database: &Database) {
    let server = database.serve();
    let alice = server.new_identity();
    grown(&server, 1);
    let before = ["log_statements", "log_entries", "log_tiles", "log_heads"];
    for table in before {
        database.by_hand(&format!("CREATE TABLE kept_{table} AS SELECT * FROM {table}"));
    }
    server.new_identity();
    grown(&server, 2);
    let name = body(&server.get("/log/checkpoint")).lines().next().unwrap().to_owned();
    server.stop();
    // The state after a restore of a backup from before the second identity.
    let restore = || {
        for table in before {
            database.by_hand(&format!(
                "DELETE FROM {table}; INSERT INTO {table} SELECT * FROM kept_{table}"
            ));
        }
    };
    restore();
    finds(doctor(database, &[]), "log", "warn", "sealpost admin log restart");
    // The JSON log has the causes of an error too.
    let server = database.serve_with(&["--log-format", "json"]);
    assert!(server.readiness().1.contains("sealpost admin log restart"));
    server.new_identity();
    wait_until("the node reports the older log", || {
        let is_report = |line: &str| {
            line.contains("was not extended") && line.contains("lacks entries of the 2")
        };
        server.log().lines().any(is_report)
    });
    let sent = text_of(&server.send(&alice, &alice.key, "a letter").ok(), "envelope_id");
    let evidence = server.act(&alice, "/v1/channel/evidence", &json!({"envelope_id": sent}));
    evidence.refused(503, "SERVICE_UNAVAILABLE");
    assert_eq!(grown(&server, 1), 1, "the log waits");
    assert_eq!(fs::read_to_string(database.kept_checkpoint()).unwrap().lines().nth(1), Some("2"));
    let restarted = database.operate(&["log", "restart"]);
    assert_eq!(restarted, json!({"ended": name, "log": format!("{name}/2")}));
    // Both identities, and the entry of the restart in the audit trail.
    assert!(grown(&server, 3) >= 3);
    let key = body(&server.get("/log/"));
    assert!(key.starts_with(&format!("{name}/2+")), "{key}");
    let folder = tempfile::tempdir().unwrap();
    let proof = folder.path().join("proof");
    fs::write(&proof, proof_of(&server, &alice)).unwrap();
    verified(&server, &[&proof]);
    server.stop();
    // The backup has the log that the restart has ended.
    restore();
    finds(doctor(database, &[]), "log", "warn", "sealpost admin log restart");
}

fn the_files_are_cacheable_and_only_those_of_the_tree(database: &Database) {
    let server = database.serve();
    server.new_identity();
    let size = grown(&server, 1);
    let checkpoint = server.get("/log/checkpoint");
    assert_eq!(checkpoint.header("content-type"), Some("text/plain; charset=utf-8"));
    assert_eq!(checkpoint.header("cache-control"), Some("public, max-age=2"));
    assert_eq!(checkpoint.header("access-control-allow-origin"), Some("*"));
    let origin = format!("{}/log", server.url.replace("http://", ""));
    assert_eq!(body(&checkpoint).lines().next(), Some(&*origin));
    for path in [format!("/log/tile/0/000.p/{size}"), format!("/log/tile/entries/000.p/{size}")] {
        let tile = server.get(&path);
        assert_eq!(tile.status, 200, "{path}");
        assert_eq!(tile.header("cache-control"), Some("public, max-age=31536000, immutable"));
        assert_eq!(tile.header("content-type"), Some("application/octet-stream"));
    }
    for path in [
        "0/000",
        "0/000.p/200",
        "0/001.p/1",
        "1/000.p/1",
        "entries/000",
        "entries/000.p/200",
        "0/0",
        "x",
    ] {
        let missing = server.get(&format!("/log/tile/{path}"));
        assert_eq!(
            (missing.status, missing.header("cache-control")),
            (404, Some("no-store")),
            "{path}"
        );
    }
    server.post("/log/checkpoint").response().refused(405, "METHOD_NOT_ALLOWED");
}
