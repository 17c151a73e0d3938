//! Tests of the transparency log: every node serves the same files, and a program of other authors verifies them.

use std::{fs, path::Path, process::Command, time::Duration};

use serde_json::{Value, json};

use crate::support::{
    Database, Identity, Response, Server, binary, eventually, on_both, python, root, run,
    text as text_of,
};

on_both!(
    a_program_of_other_authors_verifies_the_log,
    a_proof_verifies_without_the_server,
    the_files_are_cacheable_and_only_those_of_the_tree
);

/// A change is in the log within two seconds. The bound is wider, because tests share a machine.
const SOON: Duration = Duration::from_secs(20);

fn fetch(server: &Server, path: &str) -> Response {
    server.client().request("GET", path).response()
}

fn body(response: &Response) -> String {
    String::from_utf8(response.body.clone()).unwrap()
}

/// Returns the size of the log once it has at least this many entries.
fn grown(server: &Server, least: u64) -> u64 {
    eventually("the log grows", SOON, || {
        let checkpoint = fetch(server, "/log/checkpoint");
        let text = (checkpoint.status == 200).then(|| body(&checkpoint))?;
        let size = text.lines().nth(1)?.parse().ok()?;
        (size >= least).then_some(size)
    })
}

/// Verifies the whole log and a proof with aics-tlog, and returns the entries of the log.
fn verified(server: &Server, proof: &Path) -> Vec<String> {
    let key = body(&fetch(server, "/log/"));
    let program = root().join("tests/blackbox/oracles/log.py");
    let ran = Command::new(python())
        .args(["-B", "-W", "error"])
        .arg(program)
        .args([&format!("{}/log", server.url), key.trim()])
        .arg(proof)
        .output()
        .unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    serde_json::from_slice(&ran.stdout).unwrap()
}

fn a_program_of_other_authors_verifies_the_log(database: &Database) {
    let nodes = database.serve_on_every_node();
    let alice = nodes[0].client().new_identity();
    for server in nodes.iter().cycle().take(4) {
        server.client().new_identity();
    }
    let folder = tempfile::tempdir().unwrap();
    let proof = folder.path().join("alice.tlog-proof");
    for node in &nodes {
        grown(node, 5);
        fs::write(&proof, proof_of(node, &alice)).unwrap();
        let entries = verified(node, &proof);
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
    let status = server.client().act(identity, "/v1/did/status", &json!({"proof": true})).ok();
    text_of(&status, "proof")
}

fn a_proof_verifies_without_the_server(database: &Database) {
    let server = database.serve();
    let alice = server.client().new_identity();
    let status = server.client().status(&alice).ok();
    assert!(status.get("proof").is_none(), "nobody asked for it");
    grown(&server, 1);
    let (text, key) = (proof_of(&server, &alice), body(&fetch(&server, "/log/")));
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

fn the_files_are_cacheable_and_only_those_of_the_tree(database: &Database) {
    let server = database.serve();
    server.client().new_identity();
    let size = grown(&server, 1);
    let checkpoint = fetch(&server, "/log/checkpoint");
    assert_eq!(checkpoint.header("content-type"), Some("text/plain; charset=utf-8"));
    assert_eq!(checkpoint.header("cache-control"), Some("public, max-age=2"));
    assert_eq!(checkpoint.header("access-control-allow-origin"), Some("*"));
    let origin = format!("{}/log", server.url.replace("http://", ""));
    assert_eq!(body(&checkpoint).lines().next(), Some(&*origin));
    for path in [format!("/log/tile/0/000.p/{size}"), format!("/log/tile/entries/000.p/{size}")] {
        let tile = fetch(&server, &path);
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
        let missing = fetch(&server, &format!("/log/tile/{path}"));
        assert_eq!(
            (missing.status, missing.header("cache-control")),
            (404, Some("no-store")),
            "{path}"
        );
    }
    server
        .client()
        .request("POST", "/log/checkpoint")
        .response()
        .refused(405, "METHOD_NOT_ALLOWED");
}
