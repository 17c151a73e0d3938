//! Tests of the transparency log: every node serves the same files, and a program of other authors verifies them.

use std::{process::Command, time::Duration};

use serde_json::Value;

use crate::support::{Database, Response, Server, eventually, on_both, python, root, text};

on_both!(
    a_program_of_other_authors_verifies_the_log,
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

/// Verifies the whole log with aics-tlog, and returns its entries.
fn verified(server: &Server) -> Vec<String> {
    let key = body(&fetch(server, "/log/"));
    let program = root().join("tests/blackbox/oracles/log.py");
    let ran = Command::new(python())
        .args(["-B", "-W", "error"])
        .arg(program)
        .args([&format!("{}/log", server.url), key.trim()])
        .output()
        .unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    let found: Value = serde_json::from_slice(&ran.stdout).unwrap();
    let entries = found["entries"].as_array().unwrap();
    entries.iter().map(|entry| entry.as_str().unwrap().to_owned()).collect()
}

fn a_program_of_other_authors_verifies_the_log(database: &Database) {
    let nodes = database.serve_on_every_node();
    let alice = nodes[0].client().new_identity();
    for server in nodes.iter().cycle().take(4) {
        server.client().new_identity();
    }
    for node in &nodes {
        grown(node, 5);
        let entries = verified(node);
        assert!(entries.len() >= 5, "{entries:?}");
        for entry in entries {
            let lines: Vec<_> = entry.lines().collect();
            assert_eq!((lines.len(), lines[0], lines[1]), (4, "sealpost/log/v1", "key"), "{entry}");
            assert!(!entry.contains(&alice.key), "an entry names a key");
        }
    }
    let status = nodes[0].client().status(&alice).ok();
    assert_eq!(text(&status, "status"), "active");
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
