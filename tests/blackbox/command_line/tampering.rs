//! Tamperings with the transparency log by SQL. Each is detected: by `sealpost watch` of the owner, or by the node, which
//! signs no further checkpoint.

use std::fs;

use super::service::Shell;
use crate::support::{Database, SOON, Server, eventually, on_both};

on_both!(owners_detect_changes_by_sql, a_node_signs_no_changed_tree);

/// Each tampering with the error that its owner sees. `KEY` is the API key of the owner.
const OF_AN_OWNER: [(&str, &str, &str); 7] = [
    (
        "swap the DID",
        "UPDATE api_keys SET did = 'did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK' WHERE id = 'KEY'",
        "",
    ),
    (
        "change the sealing version",
        "UPDATE api_keys SET sealing_version = 9 WHERE id = 'KEY'",
        "the key has changed since the last check",
    ),
    (
        "change the status",
        "UPDATE api_keys SET status = 'rotating' WHERE id = 'KEY'",
        "this API key is being rotated",
    ),
    (
        "replace the statement",
        "UPDATE log_statements SET text = replace(text, 'version 1', 'version 2') WHERE api_key_id = 'KEY'",
        "the checkpoint does not include the entry",
    ),
    (
        "back-date the entry",
        "UPDATE log_statements SET at = at - 86400000 WHERE api_key_id = 'KEY'",
        "the checkpoint does not include the entry",
    ),
    (
        "replace the salt",
        "UPDATE log_statements SET salt = (SELECT o.salt FROM log_statements AS o WHERE o.number = 0) \
         WHERE api_key_id = 'KEY'",
        "the checkpoint does not include the entry",
    ),
    (
        "remove the statement",
        "DELETE FROM log_statements WHERE api_key_id = 'KEY'",
        "the service has no proof of the newest change",
    ),
];

fn owners_detect_changes_by_sql(database: &Database) {
    let server = database.serve();
    server.client().new_identity();
    let folder = tempfile::tempdir().unwrap();
    let policy = folder.path().join("policy");
    let key = eventually("the log begins", SOON, || {
        let key = server.client().request("GET", "/log/").response();
        (key.status == 200).then(|| String::from_utf8(key.body).unwrap())
    });
    fs::write(&policy, format!("log {key}quorum none\n")).unwrap();
    for (number, (name, tampering, expected)) in OF_AN_OWNER.into_iter().enumerate() {
        let owner = server.client().new_identity();
        let shell = Shell::of(&server);
        shell.log_in("default", &owner);
        let state = folder.path().join(number.to_string());
        let (policy, state) = (policy.to_str().unwrap(), state.to_str().unwrap());
        let watch = ["watch", "--policy", policy, "--state", state];
        shell.succeed(&watch, "");
        database.by_hand(&tampering.replace("KEY", &owner.key));
        let detected = shell.run(&watch, "");
        assert_ne!(detected.status, Some(0), "{name}");
        assert!(detected.stderr.contains(expected), "{name}: {}", detected.stderr);
    }
}

fn a_node_signs_no_changed_tree(database: &Database) {
    let server = database.serve();
    server.client().new_identity();
    server.client().new_identity();
    let checkpoint = |server: &Server| {
        let checkpoint = server.client().request("GET", "/log/checkpoint").response();
        (checkpoint.status == 200).then(|| String::from_utf8(checkpoint.body).unwrap())
    };
    let two = || checkpoint(&server).filter(|text| text.lines().nth(1) == Some("2"));
    eventually("both are in the log", SOON, two);
    server.stop();
    let kept = "CREATE TABLE kept AS SELECT * FROM log_tiles; CREATE TABLE kept_heads AS SELECT * FROM log_heads";
    database.by_hand(kept);
    for (name, tampering) in [
        ("remove the tiles", "DELETE FROM log_tiles"),
        (
            "rewrite a tile",
            "UPDATE log_tiles SET hashes = (SELECT salt FROM log_statements WHERE number = 0)",
        ),
        ("cut off the log", "UPDATE log_heads SET size = 1"),
        ("extend the log", "UPDATE log_heads SET size = 3"),
    ] {
        database.by_hand(tampering);
        let server = database.serve();
        server.client().new_identity();
        eventually(name, SOON, || {
            server.log().contains("the transparency log was not extended").then_some(())
        });
        assert_eq!(database.count("log_entries"), 2, "{name}");
        server.stop();
        database.by_hand(
            "DELETE FROM log_tiles; INSERT INTO log_tiles SELECT * FROM kept; \
             DELETE FROM log_heads; INSERT INTO log_heads SELECT * FROM kept_heads",
        );
    }
}
